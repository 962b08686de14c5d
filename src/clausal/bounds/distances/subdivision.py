"""RotatE on boxes, and of one variable on discs: any clause, component by component, by subdivision.

Every atom is minus a sum over components of |u|, with u = α · x + κ for the numbers x that the variables have there.
For weights λ of the forms a component is Σₐ cₐ |uₐ|. In a *cell*, an interval for every number, with centre m, it lies
below a linear function. Of a head, c > 0, that is the tangent at m, and as much more as |u| can bend, c ρ² / 2(|u(m)| −
ρ), where u moves by ρ at most; near 0 it is c (|u(m)| + ρ). Of a body, c < 0, it is −Re Ḡu for any |G| ≤ |c|: that of
the tangent, or the one that takes away the heads' slope in a variable. Before that, a head may follow a body by the
triangle inequality, c |u| − b |w| ≤ |c u − G w| − (b − |G|) |w| for |G| ≤ b, so that it depends on fewer variables:
near w = 0, where violations are large, tangents say little. Cells with the largest bounds are halved again and again.
λ comes from the values at centres; any is valid.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.bounds.blocks import Bound, LinearForms
from clausal.bounds.boxes.mixtures import Mixture, optimal_mixture
from clausal.bounds.climbing import climbed, drawn
from clausal.bounds.distances.translations import Translations
from clausal.bounds.distances.triangle import DistanceEdges
from clausal.bounds.regions import Boxes, Discs, Region

_SIDE = {1: 12, 2: 4, 3: 2}
"""Cells along a side to begin with, by the number of variables; more are not treated."""
_HALVED = {1: 48, 2: 96, 3: 192}
"""Cells that are halved at a time, in each component."""
_MOST_ROUNDS = 100
_WEIGHED = 4
"""Every so many rounds λ is looked for again."""
_CLOSE = 1e-3
"""The bound is near enough if centres have all but this share of it."""
_TINY = 1e-30
_SETS = 8
"""Points that are drawn from the likely cells, for the search to begin with."""


@torch.no_grad()
def bound_by_subdivision(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound | None:
    """Bound min over forms, nearly exactly for one form; None where there are too many variables."""
    if not isinstance(region, Boxes | Discs) or isinstance(edges.distances, Translations) or edges.free not in _SIDE:
        return None
    if isinstance(region, Discs) and edges.free > 1:
        return None
    parts = [_Clause(edges, forms, region, number).bound() for number in range(len(edges.relations))]
    return Bound(*(torch.stack(tensors) for tensors in zip(*parts, strict=True)))


class _Clause:
    """The components of one clause."""

    def __init__(self, edges: DistanceEdges, forms: LinearForms, region: Boxes | Discs, number: int) -> None:
        self.free, self.fixed = edges.free, edges.fixed[number]
        self.forms = forms.like(edges.relations)
        self.alpha, self.kappa = edges.linear(number)  # [atoms, components, free], [atoms, components]
        some = slice(number, number + 1)
        self.region: Boxes | Discs
        self.radius: Tensor | None = None
        if isinstance(region, Boxes):
            self.region = Boxes(region.low[some], region.high[some])
            self.low, self.high = (one[number, : self.free].movedim(0, 1) for one in (region.low, region.high))
        else:
            self.region = Discs(region.radius[some], region.fixed[some])
            self.radius = region.radius[number].T  # [components, free]
            self.high = self.radius.unsqueeze(-1).expand(-1, -1, 2)  # [components, free, 2]
            self.low = -self.high

    def bound(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the bound, λ, and a point of all slots."""
        cells = _grid(self.low, self.high, _SIDE[self.free])
        table = self._table(cells)
        mixture = self._mixture(table)
        upper = self._upper(cells, mixture.weights[0])
        for step in range(1, _MOST_ROUNDS + 1):
            reached = torch.einsum("j,jic->ic", mixture.weights[0], table).amax(-1).sum()
            value = upper.amax(-1).sum()
            if value - reached <= _CLOSE * (value + mixture.weights[0] @ self.forms.offsets).abs():
                break
            chosen = upper.topk(min(_HALVED[self.free], upper.shape[1])).indices
            halves = _halved(cells.gather(1, chosen[..., None, None, None].expand(-1, -1, *cells.shape[2:])))
            above = torch.minimum(self._upper(halves, mixture.weights[0]), upper.gather(1, chosen).repeat(1, 2))
            cells, upper, table = (
                _with(old, chosen, new, dim)
                for old, new, dim in ((cells, halves, 1), (upper, above, 1), (table, self._table(halves), 2))
            )
            if step % _WEIGHED == 0 and len(table) > 1:
                mixture = self._mixture(table)
                upper = self._upper(cells, mixture.weights[0])
        value = upper.amax(-1).sum() + mixture.weights[0] @ self.forms.offsets
        points = torch.cat([self._likely(cells, table), drawn(self.free, 2 * len(cells), upper)])
        point, _ = climbed(points, self._attained, self._inside)
        return value, mixture.weights[0], torch.cat([point.unflatten(-1, (-1, 2)), self.fixed])

    def _table(self, cells: Tensor) -> Tensor:
        """Return the forms at centres, moved into the region: [forms, components, cells]."""
        return -torch.einsum("ja,aic->jic", self.forms.matrix, self._away(self._centres(cells)).abs())

    def _mixture(self, table: Tensor) -> Mixture:
        return optimal_mixture(table.unsqueeze(0), self.forms.offsets.unsqueeze(0))

    def _centres(self, cells: Tensor) -> Tensor:
        """Return the nearest points of the region to the centres [components, cells, free, 2]."""
        centres = cells.mean(-1)
        if self.radius is None:
            return centres
        length = torch.linalg.vector_norm(centres, dim=-1, keepdim=True)
        return centres * (self.radius[:, None, :, None] / length.clamp_min(_TINY)).clamp_max(1)

    def _away(self, points: Tensor) -> Tensor:
        """Return u [atoms, components, cells] at points [components, cells, free, 2]."""
        return torch.einsum("aiv,icv->aic", self.alpha, _complex(points)) + self.kappa.unsqueeze(-1)

    def _upper(self, cells: Tensor, weights: Tensor) -> Tensor:
        """Bound the weighted form in each cell [components, cells]; −∞ outside of a disc."""
        centres, width = cells.mean(-1), (cells[..., 1] - cells[..., 0]) / 2  # [components, cells, free, 2]
        upper = torch.stack([one.upper(centres, width) for one in self._sums(weights)]).amin(0)
        if self.radius is None:
            return upper
        outside = torch.linalg.vector_norm(centres, dim=-1) - torch.linalg.vector_norm(width, dim=-1)
        return torch.where((outside > self.radius.unsqueeze(1)).any(-1), -torch.inf, upper)

    def _sums(self, weights: Tensor) -> list[DistanceSum]:
        """Return the weighted form, and sums that are at least as large by the triangle inequality."""
        factors = -(weights @ self.forms.matrix).unsqueeze(-1).expand(self.kappa.shape)
        found = [DistanceSum(self.alpha, self.kappa, factors)]
        for head in (factors[:, 0] > 0).nonzero().flatten().tolist():
            followed = [DistanceSum(self.alpha, self.kappa, factors)]
            for body in (factors[:, 0] < 0).nonzero().flatten().tolist():
                moving = [v for v in range(self.free) if (self.alpha[body, :, v].abs() > 0).all()]
                followed += [one.followed(head, body, variable) for one in followed for variable in moving]
            found += followed[1:]
        return found

    def _likely(self, cells: Tensor, table: Tensor) -> Tensor:
        """Draw points [sets, free, numbers] from the mixture of centres, the first one the likeliest of all."""
        mixture, generator = self._mixture(table), torch.Generator().manual_seed(0)
        spread = mixture.probabilities[0]
        others = torch.multinomial(spread.cpu(), _SETS, replacement=True, generator=generator).to(spread.device)
        places = torch.cat([spread.argmax(-1, keepdim=True), others], 1)
        chosen = mixture.corners[0].gather(1, places)[..., None, None]
        points = self._centres(cells)
        return points.gather(1, chosen.expand(-1, -1, *points.shape[2:])).permute(1, 2, 0, 3).flatten(2)

    def _attained(self, points: Tensor) -> Tensor:
        """Return min over forms at points [sets, free, numbers] → [sets]."""
        away = self._away(points.unflatten(-1, (-1, 2)).permute(2, 0, 1, 3))
        distances = torch.view_as_real(away).norm(dim=-1).sum(1)  # [atoms, sets]
        return (self.forms.offsets - distances.T @ self.forms.matrix.T).amin(-1)

    def _inside(self, points: Tensor) -> Tensor:
        return self.region.project(points.unflatten(-1, (-1, 2)).unsqueeze(0))[0].flatten(2)


@dataclass(frozen=True, eq=False)
class DistanceSum:
    """Σₐ cₐ |uₐ| in every component, with u = α · x + κ."""

    alpha: Tensor  # [atoms, components, free]
    kappa: Tensor  # [atoms, components]
    factors: Tensor  # c [atoms, components]

    def followed(self, head: int, body: int, variable: int) -> DistanceSum:
        """Let the head's u follow the body's with the G that takes a variable away, or that comes next to it."""
        share, alpha, kappa = self.factors[head], self.alpha.clone(), self.kappa.clone()
        factor = share * self.alpha[head, :, variable] / self.alpha[body, :, variable]
        factor = factor * (-self.factors[body] / factor.abs().clamp_min(_TINY)).clamp_max(1)
        alpha[head] = share.unsqueeze(-1) * alpha[head] - factor.unsqueeze(-1) * alpha[body]
        kappa[head] = share * kappa[head] - factor * kappa[body]
        factors = self.factors.clone()
        factors[head] = 1
        factors[body] = (factors[body] + factor.abs()).clamp_max(0)
        return DistanceSum(alpha, kappa, factors)

    def upper(self, centres: Tensor, width: Tensor) -> Tensor:
        """Bound the sum [components, cells] in cells of these centres and half widths [components, cells, free, 2]."""
        head, body = self.factors.clamp_min(0).unsqueeze(-1), (-self.factors).clamp_min(0).unsqueeze(-1)
        reach = torch.linalg.vector_norm(width, dim=-1)  # [components, cells, free]
        moved = torch.einsum("aiv,icv->aic", self.alpha.abs(), reach)  # ρ
        away = torch.einsum("aiv,icv->aic", self.alpha, _complex(centres)) + self.kappa.unsqueeze(-1)
        length = away.abs()
        near = length < 2 * moved
        above = torch.where(near, moved, moved.square() / (2 * (length - moved)).clamp_min(_TINY))
        phases = away / length.clamp_min(_TINY)
        pull = torch.where(near, 0, head * phases)  # slopes of heads by u
        slopes = torch.einsum("aic,aiv->icv", pull, self.alpha.conj())  # and by x
        value = (head * (length + above)).sum(0)
        found = []
        for option in [body * phases, *(self._against(slopes, body, v) for v in range(centres.shape[2]))]:
            tilted = slopes - torch.einsum("aic,aiv->icv", option, self.alpha.conj())
            steepest = (torch.view_as_real(tilted).abs() * width).sum((-1, -2))
            found.append(value - (option.conj() * away).real.sum(0) + steepest)
        return torch.stack(found).amin(0)

    def _against(self, slopes: Tensor, body: Tensor, variable: int) -> Tensor:
        """Return G [atoms, components, cells] of bodies that takes away the slope in a variable, as far as it can."""
        alpha = self.alpha[..., variable].unsqueeze(-1)
        strength = body * alpha.abs()
        shared = strength / strength.sum(0).clamp_min(_TINY)
        wanted = slopes[..., variable] * alpha / alpha.abs().square().clamp_min(_TINY) * shared
        return wanted * (body / wanted.abs().clamp_min(_TINY)).clamp_max(1)


def _grid(low: Tensor, high: Tensor, side: int) -> Tensor:
    """Cut boxes [components, free, 2] into cells [components, cells, free, 2, 2], the last from low to high."""
    steps = torch.linspace(0, 1, side + 1, dtype=low.dtype, device=low.device)
    places = torch.cartesian_prod(*[torch.arange(side, device=low.device)] * low[0].numel()).view(-1, *low[0].shape)
    share = torch.stack([steps[places], steps[places + 1]], -1)
    return torch.lerp(low[:, None, ..., None], high[:, None, ..., None], share)


def _halved(cells: Tensor) -> Tensor:
    """Halve each cell where it is widest: [components, cells, free, 2, 2] → twice as many cells."""
    flat = cells.flatten(2, 3)
    widest = (flat[..., 1] - flat[..., 0]).argmax(-1, keepdim=True)
    here = torch.zeros_like(flat[..., 0], dtype=torch.bool).scatter(-1, widest, True)
    middle = flat.mean(-1)
    below = torch.stack([flat[..., 0], torch.where(here, middle, flat[..., 1])], -1)
    above = torch.stack([torch.where(here, middle, flat[..., 0]), flat[..., 1]], -1)
    return torch.cat([below, above], 1).view(len(cells), -1, *cells.shape[2:])


def _with(old: Tensor, chosen: Tensor, new: Tensor, dim: int) -> Tensor:
    """Put the first half of new cells in the place of chosen ones [components, chosen], the second at the end."""
    first, second = new.chunk(2, dim)
    shape = [1] * old.dim()
    shape[dim - 1], shape[dim] = chosen.shape
    return torch.cat([old.scatter(dim, chosen.view(shape).expand_as(first), first), second], dim)


def _complex(points: Tensor) -> Tensor:
    return torch.view_as_complex(points.contiguous())
