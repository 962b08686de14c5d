"""The dual of max-min over independent choices: minλ Σᵢ max over corners c of Σⱼ λⱼ Lⱼᵢ(c) + λ · o.

By linear programming duality this is the largest minⱼ of the expected forms over mixtures of corners, one mixture for
each component. With two forms it is a convex function of one number, made of straight pieces, and is solved exactly;
with more it is solved as a linear program (``interior.py``).

Why a mixture: the dual is minλ maxₚ Σⱼ λⱼ (Σᵢ Σ_c pᵢ(c) Lⱼᵢ(c) + oⱼ) with pᵢ a distribution over the corners of
component i, as a maximum over corners is one over distributions. Minimum and maximum of a function that is linear in
each can change places, and minλ then picks the smallest expected form. See "Duality" in
docs/explanation/certificates.md; ``rounding.py`` makes a point of the mixture.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.bounds.boxes.interior import solve_mixture

_TIE = 1e-12
"""Corners whose values differ by less than this share of the largest are equally good."""
_STEPS = 100
"""Most steps with two forms: 33 of them halve the interval, and the tangents do far better."""
_HALVE_EVERY = 3
"""Every so many steps the interval is halved, whatever the tangents say, so that it always shrinks."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """The optimal λ, and for each component some corners with the probability of each."""

    weights: Tensor  # [problems, forms]
    corners: Tensor  # [problems, components, choices]
    probabilities: Tensor  # [problems, components, choices]


def optimal_mixture(table: Tensor, offsets: Tensor) -> Mixture:
    """Solve for forms [problems, forms, components, corners] in double precision with offsets [problems, forms]."""
    if table.shape[1] == 1:
        return best_corners(table, torch.ones_like(offsets))
    return _two_forms(table, offsets) if table.shape[1] == 2 else _many_forms(table, offsets)


def optimal_weights(table: Tensor, offsets: Tensor) -> Tensor:
    """Return the optimal λ [problems, forms] alone."""
    return optimal_mixture(table, offsets).weights


def best_corners(table: Tensor, weights: Tensor) -> Mixture:
    """Return for each component the best corner for a given λ."""
    corners = torch.einsum("nj,njic->nic", weights, table).argmax(-1, keepdim=True)
    return Mixture(weights, corners, torch.ones_like(corners, dtype=table.dtype))


def _two_forms(table: Tensor, offsets: Tensor) -> Mixture:
    """Close in on the λ where the slope of the dual changes sign, mostly by the crossing of the tangents at both ends.

    There the best corners just before it favour the second form and those just after it the first: the mixture of the
    two that balances the forms is optimal.
    """
    line = _Line(table, offsets)
    left, right = line.at(torch.zeros_like(offsets[:, 0]))[1], line.at(torch.ones_like(offsets[:, 0]))[0]
    right = left.where(left.slope >= 0, right)  # λ = 0 is optimal
    left = right.where(right.slope <= 0, left)  # λ = 1 is optimal
    for step in range(_STEPS):
        apart = right.place - left.place > _TIE
        if not apart.any():
            break
        place = (left.place + right.place) / 2 if step % _HALVE_EVERY == _HALVE_EVERY - 1 else left.crossing(right)
        before, after = line.at(place)
        left, right = (
            before.where(
                apart & (before.slope <= 0) & (after.slope >= 0), after.where(apart & (after.slope < 0), left)
            ),
            after.where(
                apart & (before.slope <= 0) & (after.slope >= 0), before.where(apart & (before.slope > 0), right)
            ),
        )
    place = left.crossing(right)
    share = torch.where(left.slope < right.slope, left.slope / (left.slope - right.slope), 0.5).clamp(0, 1)
    probabilities = torch.stack([1 - share, share], -1)[:, None].expand(-1, table.shape[2], -1)
    return Mixture(torch.stack([place, 1 - place], -1), torch.stack([left.corners, right.corners], -1), probabilities)


@dataclass(frozen=True, eq=False)
class _Tangent:
    """The dual at a place λ₁ and its slope on one side, with the corners that give it."""

    place: Tensor  # [problems]
    value: Tensor  # [problems]
    slope: Tensor  # [problems]
    corners: Tensor  # [problems, components]

    def where(self, condition: Tensor, other: _Tangent) -> _Tangent:
        """Return this tangent for the problems where the condition holds, and the other elsewhere."""
        return _Tangent(
            torch.where(condition, self.place, other.place),
            torch.where(condition, self.value, other.value),
            torch.where(condition, self.slope, other.slope),
            torch.where(condition[:, None], self.corners, other.corners),
        )

    def crossing(self, other: _Tangent) -> Tensor:
        """Return the place between the two where the tangents meet."""
        at_zero, other_at_zero = self.value - self.slope * self.place, other.value - other.slope * other.place
        place = torch.where(
            self.slope < other.slope, (other_at_zero - at_zero) / (self.slope - other.slope), self.place
        )
        return place.clamp(self.place, other.place)


class _Line:
    """The dual of two forms as a function of the first one's weight."""

    def __init__(self, table: Tensor, offsets: Tensor) -> None:
        self.second, self.difference = table[:, 1], table[:, 0] - table[:, 1]
        self.offset, self.offset_difference = offsets[:, 1], offsets[:, 0] - offsets[:, 1]
        self.tie = _TIE * table.abs().amax((1, 2, 3))[:, None, None]

    def at(self, place: Tensor) -> tuple[_Tangent, _Tangent]:
        """Return the tangents just before and just after a place."""
        values = torch.addcmul(self.second, self.difference, place[:, None, None])  # [problems, components, corners]
        best = values.amax(-1, keepdim=True)
        value = best.sum((1, 2)) + self.offset + place * self.offset_difference
        ties = values >= best - self.tie
        before = torch.where(ties, self.difference, torch.inf).min(-1)
        after = torch.where(ties, self.difference, -torch.inf).max(-1)
        return self._tangent(place, value, before), self._tangent(place, value, after)

    def _tangent(self, place: Tensor, value: Tensor, side: torch.return_types.min | torch.return_types.max) -> _Tangent:
        return _Tangent(place, value, side.values.sum(1) + self.offset_difference, side.indices)


def _many_forms(table: Tensor, offsets: Tensor) -> Mixture:
    weights, probabilities = solve_mixture(table, offsets)
    corners = torch.arange(table.shape[-1], device=table.device).expand_as(probabilities)
    return Mixture(weights, corners, probabilities)
