"""Boxes for scorers whose block is the whole vector, RESCAL: a quadratic form in all numbers of all variables.

Its corners are too many, and its largest value is NP-hard to find: the largest cut of a graph is such a form. With
x = m + ρ y, |yₛ| ≤ 1, and a multiplier μₛ ≥ 0 for each number, Σ μₛ (1 − yₛ²) ≥ 0 is added as on balls
(``balls/lagrangian.py``), where every number is a ball of its own. Boxes with the largest bounds are halved, which
closes the gap where numbers are few. Where they are many, the multipliers are equal: the largest eigenvalue times their
number, or the sum of all entries if that is less.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.bounds.balls.lagrangian import optimal_multipliers
from clausal.bounds.balls.quadratic import QuadraticForms, quadratic_forms
from clausal.bounds.blocks import AtomBlocks, Bound, LinearForms, attained
from clausal.bounds.climbing import climbed, drawn
from clausal.bounds.regions import Boxes

_MOST_MULTIPLIERS = 48
"""Numbers of all variables, beyond which the search for multipliers takes too long."""
_MOST_TO_HALVE = 24
"""Numbers beyond which halves of boxes are hardly better than the whole."""
_ROUNDS = 8
_HALVED = 6
"""Boxes that are halved in a round."""
_CLOSE = 5e-3
"""Bound and attained value are near enough if they differ by this share."""


@torch.no_grad()
def bound_whole(atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, free: int) -> Bound | None:
    """Bound max over boxes of min over forms of one block; None where there are several blocks."""
    if atoms.matrices.shape[2] != 1:
        return None
    exact, limits = atoms.detach(), Boxes(boxes.low.double(), boxes.high.double())
    parts = [
        _Clause(exact.clause_range(n, n + 1), forms, Boxes(limits.low[n : n + 1], limits.high[n : n + 1]), free).bound()
        for n in range(len(exact.matrices))
    ]
    value, weights, points = (torch.stack(tensors).to(atoms.matrices) for tensors in zip(*parts, strict=True))
    return Bound(value, weights, points)


class _Clause:
    """One clause as a quadratic form in all its numbers."""

    def __init__(self, atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, free: int) -> None:
        self.atoms, self.forms, self.boxes, self.free = atoms, forms.like(atoms.matrices), boxes, free
        self.fixed = boxes.low[:, free:]
        radius = torch.ones_like(boxes.low[:, :1, 0, 0]).reshape(1, 1, 1).expand(1, 1, free)
        found = quadratic_forms(atoms, self.forms, self.fixed, radius, 1)
        self.quadratic, self.linear = found.quadratic[0, 0, 0], found.linear[0, 0, 0]  # [forms, d, d], [forms, d]
        self.constant = found.constant[0]
        self.low, self.high = (limit[0, :free].reshape(1, -1) for limit in (boxes.low, boxes.high))  # [1, d]

    def bound(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the bound, λ, and a point of all slots."""
        size = self.boxes.low.shape[-1]
        point, reached = climbed(drawn(self.free, size, self.low), self._attained, self._inside)
        low, high = self.low, self.high
        values, weights, widest = self._in_boxes(low, high)
        for _ in range(_ROUNDS if low.shape[1] <= _MOST_TO_HALVE else 0):
            hopeful = values > reached + _CLOSE * values.amax().abs()
            if not hopeful.any():
                break
            chosen = torch.where(hopeful, values, -torch.inf).topk(min(_HALVED, int(hopeful.sum()))).indices
            cut = torch.nn.functional.one_hot(widest[chosen], low.shape[1]).bool()
            middle = (low[chosen] + high[chosen]) / 2
            halves = (
                torch.cat([low[chosen], torch.where(cut, middle, low[chosen])]),
                torch.cat([torch.where(cut, middle, high[chosen]), high[chosen]]),
            )
            new = self._in_boxes(*halves)
            kept = torch.ones_like(hopeful).index_fill(0, chosen, False)
            above = values[chosen].repeat(2)
            low, high = (torch.cat([old[kept], more]) for old, more in zip((low, high), halves, strict=True))
            values = torch.cat([values[kept], torch.minimum(new[0], above)])
            weights, widest = (
                torch.cat([old[kept], more]) for old, more in zip((weights, widest), new[1:], strict=True)
            )
            starts = ((low + high) / 2)[values.topk(min(_HALVED, len(values))).indices].reshape(-1, self.free, size)
            again, more = climbed(starts, self._attained, self._inside)
            point, reached = (again, more) if more > reached else (point, reached)
        return values.amax(), weights[values.argmax()], torch.cat([point.unsqueeze(1), self.fixed[0]])

    def _in_boxes(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the bound [boxes], λ [boxes, forms] and the number to halve a box at [boxes]."""
        centre, half = (low + high) / 2, (high - low) / 2  # m, ρ
        bent = torch.einsum("jst,nt->njs", self.quadratic, centre)
        quadratic = self.quadratic * half[:, None, :, None] * half[:, None, None, :]
        linear = (self.linear + 2 * bent) * half.unsqueeze(1)
        constant = self.constant + torch.einsum("njs,ns->nj", bent + self.linear, centre)
        if low.shape[1] > _MOST_MULTIPLIERS:
            return _by_eigenvalues(quadratic, linear, constant)
        ones = torch.ones_like(half).unsqueeze(1)
        found = optimal_multipliers(
            QuadraticForms(quadratic[:, None, None], linear[:, None, None], constant, ones, 1, False)
        )
        return found.value, found.weights, found.multipliers[:, 0].argmax(-1)

    def _attained(self, points: Tensor) -> Tensor:
        """Return min over forms at points [sets, free, numbers] → [sets]."""
        slots = torch.cat([points.unsqueeze(2), self.fixed.expand(len(points), -1, -1, -1)], 1)
        return attained(self.atoms, self.forms, slots.unsqueeze(0))[0]

    def _inside(self, points: Tensor) -> Tensor:
        return points.clamp(self.low.reshape(points.shape[1:]), self.high.reshape(points.shape[1:]))


def _by_eigenvalues(quadratic: Tensor, linear: Tensor, constant: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Bound forms over −1 ≤ y ≤ 1, each alone and their mean, without a search."""
    count = constant.shape[1]
    weights = torch.cat([torch.eye(count), torch.full((1, count), 1 / count)]).to(constant)
    forms = torch.einsum("wj,njst->nwst", weights, quadratic)
    spectral = torch.linalg.eigvalsh(forms)[..., -1].clamp_min(0) * forms.shape[-1]
    off = forms - torch.diag_embed(forms.diagonal(dim1=-2, dim2=-1))
    entries = off.abs().sum((-2, -1)) + forms.diagonal(dim1=-2, dim2=-1).clamp_min(0).sum(-1)
    straight = torch.einsum("wj,njs->nws", weights, linear).abs().sum(-1)
    values = torch.minimum(spectral, entries) + straight + constant @ weights.T
    value, place = values.min(-1)
    return value, weights[place], torch.zeros_like(place)
