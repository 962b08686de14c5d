"""The mixture problem with three or more forms as a linear program, by Mehrotra's predictor-corrector method (1992).

    minimise Σᵢ vᵢ + λ · o   subject to   sᵢ(c) = vᵢ − Σⱼ λⱼ Lⱼᵢ(c) ≥ 0,   λ ≥ 0,   Σ λⱼ = 1

The multipliers of the corners' constraints are their probabilities p, those of λ ≥ 0 are z. Both sides start feasible
and stay so, and the products p·s and λ·z, which sum to the gap between them, are driven to 0. Each step solves a system
of the size of λ, as every v meets only its own component.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.consistency.bounds.simplex import newton_direction

_ITERATIONS = 60
_GAP = 1e-11
_SHORT_OF_THE_EDGE = 0.99


def solve_mixture(table: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
    """Return λ [problems, forms] and p [problems, components, corners] for forms [problems, forms, …]."""
    scale = (table.abs().amax((2, 3)).sum(1) + offsets.abs().amax(1)).clamp_min(1e-30)
    table, offsets = table / scale[:, None, None, None], offsets / scale[:, None]
    state = _State(table, offsets)
    for _ in range(_ITERATIONS):
        gap = state.gap()
        if not (gap > _GAP * table.shape[2]).any():
            break
        state.step()
    probabilities = state.p.clamp_min(0)
    return state.weights / state.weights.sum(1, keepdim=True), probabilities / probabilities.sum(-1, keepdim=True)


class _State:
    """A strictly feasible pair of solutions."""

    def __init__(self, table: Tensor, offsets: Tensor) -> None:
        self.table = table
        self.weights = torch.full_like(offsets, 1 / offsets.shape[1])
        values = torch.einsum("nj,njic->nic", self.weights, table)
        self.s = values.amax(-1, keepdim=True) + 1 - values
        self.p = torch.full_like(values, 1 / values.shape[-1])
        expected = (table * self.p.unsqueeze(1)).sum((2, 3)) + offsets
        self.z = expected - expected.amin(1, keepdim=True) + 1
        self.pairs = self.p[0].numel() + self.z.shape[1]

    def gap(self) -> Tensor:
        """Return the difference of the two solutions' values [problems]."""
        return (self.p * self.s).sum((1, 2)) + (self.weights * self.z).sum(1)

    def step(self) -> None:
        """Aim at products of 0, see how far that goes, then aim at what is in reach, corrected to second order."""
        ratio = self.p / self.s
        total = ratio.sum(-1)  # [problems, components]
        mean = (self.table * ratio.unsqueeze(1)).sum(-1) / total.unsqueeze(1)
        centred = self.table - mean.unsqueeze(-1)
        hessian = torch.einsum("njic,nic,nkic->njk", centred, ratio, centred) + torch.diag_embed(self.z / self.weights)
        system = ratio, total, centred, hessian
        weights, s, p, z = self._direction(system, -self.p * self.s, -self.weights * self.z)
        up, down = self._reach(weights, s, p, z)
        gap = self.gap()
        aimed = ((self.p + up[:, None, None] * p) * (self.s + down[:, None, None] * s)).sum((1, 2)) + (
            (self.weights + down[:, None] * weights) * (self.z + up[:, None] * z)
        ).sum(1)
        target = (aimed / gap).clamp(0, 1) ** 3 * gap / self.pairs
        weights, s, p, z = self._direction(
            system,
            target[:, None, None] - self.p * self.s - p * s,
            target[:, None] - self.weights * self.z - weights * z,
        )
        up, down = self._reach(weights, s, p, z)
        self.weights, self.s = self.weights + down[:, None] * weights, self.s + down[:, None, None] * s
        self.p, self.z = self.p + up[:, None, None] * p, self.z + up[:, None] * z

    def _direction(
        self, system: tuple[Tensor, Tensor, Tensor, Tensor], by_corner: Tensor, by_form: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the changes of λ, s, p and z that change the products by the given amounts to first order."""
        ratio, total, centred, hessian = system
        pushed = by_corner / self.s
        slope = torch.einsum("njic,nic->nj", centred, pushed) - by_form / self.weights
        weights = newton_direction(slope, hessian)
        s = (pushed.sum(-1) / total).unsqueeze(-1) - torch.einsum("njic,nj->nic", centred, weights)
        p = pushed - ratio * s
        z = (by_form - self.z * weights) / self.weights
        return weights, s, p, z

    def _reach(self, weights: Tensor, s: Tensor, p: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        """Return how far the steps of p and z, and of λ and s, may go."""
        up = torch.minimum(_longest(self.p.flatten(1), p.flatten(1)), _longest(self.z, z))
        down = torch.minimum(_longest(self.weights, weights), _longest(self.s.flatten(1), s.flatten(1)))
        return up, down


def _longest(values: Tensor, changes: Tensor) -> Tensor:
    """Return the share of the changes, at most 1, that keeps the values positive."""
    return (_SHORT_OF_THE_EDGE * torch.where(changes < 0, -values / changes, torch.inf).amin(1)).clamp_max(1.0)
