"""The mixture problem with three or more forms as a linear program, by Mehrotra's predictor-corrector method (1992).

    minimise Σᵢ vᵢ + λ · o   subject to   sᵢ(c) = vᵢ − Σⱼ λⱼ Lⱼᵢ(c) ≥ 0,   λ ≥ 0,   Σ λⱼ = 1

The multipliers of the corners' constraints are their probabilities p, those of λ ≥ 0 are z. Both sides start feasible
and stay so, and the products p·s and λ·z, which sum to the gap between them, are driven to 0. Each step solves a system
of the size of λ, as every v meets only its own component.

Newton's equations for changes dλ, dv, ds, dp, dz that shall change p·s by a and λ·z by b are

    ds = dv − Σⱼ dλⱼ Lⱼ,   p ds + s dp = a,   λ dz + z dλ = b,   Σ_c dp = 0,   Σ dλⱼ = 0,
    Σᵢ Σ_c dp Lⱼ − dzⱼ the same for all j.

With w = p / s the second and fourth give dv = (Σ_c a/s + Σ_c w Σⱼ dλⱼ Lⱼ) / Σ_c w, so that in place of Lⱼ stands its
difference from its w-weighted mean over the corners of a component, Cⱼ ("centred"). What is left are the normal
equations of a least-squares problem: √w Σⱼ Cⱼ dλⱼ ≈ −(a/s) / √w at every corner, √(z/λ) dλ ≈ (b/λ) / √(z/λ) for every
form. "Duality" in docs/explanation/certificates.md says what the problem is for.
"""

from __future__ import annotations

import torch
from torch import Tensor

_ITERATIONS = 60
"""Most steps."""
_GAP = 1e-11
"""Solved where the gap is below this for each component, where values are at most about 1."""
_SHORT_OF_THE_EDGE = 0.99
"""Share of the way to a number becoming 0 that one step may go."""
_CENTRING_POWER = 3
"""Mehrotra's rule: the better a step to products of 0 would do, the nearer to 0 the next step aims, by this power."""
_TINY = 1e-30
"""Least scale of values, so that forms that are 0 everywhere are not divided by 0."""


def solve_mixture(table: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
    """Return λ [problems, forms] and p [problems, components, corners] for forms [problems, forms, …]."""
    scale = (table.abs().amax((2, 3)).sum(1) + offsets.abs().amax(1)).clamp_min(_TINY)
    table, offsets = table / scale[:, None, None, None], offsets / scale[:, None]
    state = _State(table, offsets)
    for _ in range(_ITERATIONS):
        unsolved = state.gap() > _GAP * table.shape[2]
        if not unsolved.any():
            break
        state.step(unsolved)
    probabilities = state.p.clamp_min(0)
    return state.weights / state.weights.sum(1, keepdim=True), probabilities / probabilities.sum(-1, keepdim=True)


class _State:
    """A strictly feasible pair of solutions: λ (``weights``) and slacks s of one side, p and z of the other."""

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

    def step(self, unsolved: Tensor) -> None:
        """Aim at products of 0, see how far that goes, then aim at what is in reach, corrected to second order."""
        system = _System(self)
        weights, s, p, z = system.direction(-self.p * self.s, -self.weights * self.z)
        up, down = self._reach(weights, s, p, z)
        gap = self.gap()
        aimed = ((self.p + up[:, None, None] * p) * (self.s + down[:, None, None] * s)).sum((1, 2)) + (
            (self.weights + down[:, None] * weights) * (self.z + up[:, None] * z)
        ).sum(1)
        target = (aimed / gap).clamp(0, 1) ** _CENTRING_POWER * gap / self.pairs
        weights, s, p, z = system.direction(
            target[:, None, None] - self.p * self.s - p * s,
            target[:, None] - self.weights * self.z - weights * z,
        )
        up, down = (reach * unsolved for reach in self._reach(weights, s, p, z))
        self.weights, self.s = self.weights + down[:, None] * weights, self.s + down[:, None, None] * s
        self.p, self.z = self.p + up[:, None, None] * p, self.z + up[:, None] * z

    def _reach(self, weights: Tensor, s: Tensor, p: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        """Return how far the steps of p and z, and of λ and s, may go."""
        up = torch.minimum(_longest(self.p.flatten(1), p.flatten(1)), _longest(self.z, z))
        down = torch.minimum(_longest(self.weights, weights), _longest(self.s.flatten(1), s.flatten(1)))
        return up, down


class _System:
    """Newton's equations at a state, for λ alone.

    They are those of a least-squares problem, and are solved as such: their own matrix is the square of its, and has
    lost the digits of λ that count wherever corners tie.
    """

    def __init__(self, state: _State) -> None:
        self.state = state
        self.ratio = state.p / state.s
        self.total = self.ratio.sum(-1)  # [problems, components]
        mean = (state.table * self.ratio.unsqueeze(1)).sum(-1) / self.total.unsqueeze(1)
        self.centred = state.table - mean.unsqueeze(-1)
        self.corner_roots, self.form_roots = self.ratio.sqrt(), (state.z / state.weights).sqrt()
        rows = (self.centred * self.corner_roots.unsqueeze(1)).flatten(2)
        rows = torch.cat([rows, torch.diag_embed(self.form_roots)], 2)
        self.columns = rows[:, :-1] - rows[:, -1:]  # the last weight gives way

    def direction(self, by_corner: Tensor, by_form: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the changes of λ, s, p and z that change the products by the given amounts to first order."""
        state, pushed = self.state, by_corner / self.state.s
        wanted = torch.cat([-(pushed / self.corner_roots).flatten(1), by_form / state.weights / self.form_roots], 1)
        weights = _least_squares(self.columns, wanted)
        weights = torch.cat([weights, -weights.sum(1, keepdim=True)], 1)
        s = (pushed.sum(-1) / self.total).unsqueeze(-1) - torch.einsum("njic,nj->nic", self.centred, weights)
        p = pushed - self.ratio * s
        z = (by_form - state.z * weights) / state.weights
        return weights, s, p, z


def _least_squares(columns: Tensor, wanted: Tensor) -> Tensor:
    """Return the combination of few long columns [problems, columns, rows] nearest to what is wanted [problems, rows].

    By modified Gram-Schmidt with what is wanted as one more column, which is as stable as any method (Björck, 1967).
    """
    rest, wanted_left = columns, wanted
    triangle, shares = [], []
    for _ in range(columns.shape[1]):
        length = rest[:, 0].norm(dim=1, keepdim=True).clamp_min(torch.finfo(rest.dtype).tiny)
        unit = rest[:, 0] / length
        along = torch.einsum("nr,njr->nj", unit, rest[:, 1:])
        share = (unit * wanted_left).sum(1, keepdim=True)
        triangle.append(torch.cat([length, along], 1))
        shares.append(share / length)
        rest, wanted_left = rest[:, 1:] - along.unsqueeze(-1) * unit.unsqueeze(1), wanted_left - share * unit
    solution = wanted.new_zeros(len(wanted), 0)
    for row, share in zip(reversed(triangle), reversed(shares), strict=True):
        first = share - (row[:, 1:] * solution).sum(1, keepdim=True) / row[:, :1]
        solution = torch.cat([first, solution], 1)
    return solution


def _longest(values: Tensor, changes: Tensor) -> Tensor:
    """Return the share of the changes, at most 1, that keeps the values positive."""
    return (_SHORT_OF_THE_EDGE * torch.where(changes < 0, -values / changes, torch.inf).amin(1)).clamp_max(1.0)
