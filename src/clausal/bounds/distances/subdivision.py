"""RotatE with one variable, on boxes and discs: any clause between constants, component by component, by subdivision.

Every atom is minus a sum over components of wᵢ |xᵢ − fᵢ|: a constant, turned by its relation, is the focus f, with
w = 1, and r(X, X) has the focus 0 with the chord of its angle for w. For weights λ of the forms a component is a
function of the plane, Σₐ cₐ |x − fₐ|. On a square with centre m and corners at distance ρ it is bounded by its tangent
at m: terms with cₐ < 0 lie below theirs, those with cₐ > 0 above it by at most cₐ ρ² / 2(|m − fₐ| − ρ), and near their
focus they are at most cₐ (|m − fₐ| + ρ). The squares with the largest bounds are cut in four again and again. λ comes
from the values at centres; any is valid.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.bounds.blocks import Bound, LinearForms
from clausal.bounds.boxes.mixtures import optimal_mixture
from clausal.bounds.distances.rotations import chord
from clausal.bounds.distances.translations import Translations
from clausal.bounds.distances.triangle import DistanceEdges, Edge
from clausal.bounds.regions import Boxes, Discs, Region

_SIDE = 12
"""Squares along a side to begin with."""
_CUT = 24
"""Squares that are cut at a time, in each component."""
_ROUNDS = 14
_QUARTERS = torch.tensor([[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]], dtype=torch.float64)


@torch.no_grad()
def bound_by_subdivision(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound | None:
    """Bound min over forms of one variable, nearly exactly for one form; None where there are more variables."""
    if not isinstance(region, Boxes | Discs) or isinstance(edges.distances, Translations):
        return None
    if edges.free != 1 or any(min(subject, object) > 0 for _, subject, object in edges.ends):
        return None
    parts = [_Plane(edges, forms, region, clause).bound() for clause in range(len(edges.relations))]
    return Bound(*(torch.stack(tensors) for tensors in zip(*parts, strict=True)))


def _focus(edges: DistanceEdges, edge: Edge) -> tuple[Tensor, Tensor]:
    """Return the f [clauses, components, 2] and w [clauses, components] of an atom."""
    relation = edges.relations[:, edge[0]]
    if edge[1] != edge[2]:
        return edges.focus(edge), torch.ones_like(relation)
    return relation.new_zeros(*relation.shape, 2), chord(relation)


class _Plane:
    """The components of one clause."""

    def __init__(self, edges: DistanceEdges, forms: LinearForms, region: Boxes | Discs, clause: int) -> None:
        self.fixed = edges.fixed[clause]
        self.forms = forms.like(edges.relations)
        foci, scales = zip(*(_focus(edges, edge) for edge in edges.ends), strict=True)
        self.foci = torch.stack([one[clause] for one in foci])  # [atoms, components, 2]
        self.scales = torch.stack([one[clause] for one in scales])  # [atoms, components]
        if isinstance(region, Boxes):
            self.radius = None
            self.low, self.high = region.low[clause, 0], region.high[clause, 0]  # [components, 2]
        else:
            self.radius = region.radius[clause, 0]  # [components]
            self.high = self.radius.unsqueeze(-1).expand(-1, 2)
            self.low = -self.high

    def bound(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the bound, λ, and a point of all slots."""
        share = (torch.arange(_SIDE, dtype=self.low.dtype, device=self.low.device) + 0.5) / _SIDE
        grid = torch.cartesian_prod(share, share)  # [squares, 2]
        width = (self.high - self.low).unsqueeze(1)
        centres, sizes = self.low.unsqueeze(1) + width * grid, (width / _SIDE).expand(-1, len(grid), -1)
        for _ in range(_ROUNDS):
            weights = self._weights(centres)[0]
            upper = self._upper(centres, sizes, weights)
            centres, sizes = self._cut(centres, sizes, upper)
        weights, chosen = self._weights(centres)
        point = self._inside(centres)[torch.arange(len(chosen), device=chosen.device), chosen]
        value = self._upper(centres, sizes, weights).amax(-1).sum() + weights @ self.forms.offsets
        return value, weights, torch.cat([point.unsqueeze(0), self.fixed])

    def _weights(self, centres: Tensor) -> tuple[Tensor, Tensor]:
        """Return the λ that is best for the centres as they are, and the likeliest centre of each component."""
        points = self._inside(centres)
        away = torch.linalg.vector_norm(points - self.foci.unsqueeze(2), dim=-1) * self.scales.unsqueeze(-1)
        table = -torch.einsum("ja,aic->jic", self.forms.matrix, away)
        mixture = optimal_mixture(table.unsqueeze(0), self.forms.offsets.unsqueeze(0))
        likeliest = mixture.probabilities[0].argmax(-1, keepdim=True)
        return mixture.weights[0], mixture.corners[0].gather(-1, likeliest).squeeze(-1)

    def _upper(self, centres: Tensor, sizes: Tensor, weights: Tensor) -> Tensor:
        """Bound the weighted form on each square [components, squares]; −∞ outside of a disc."""
        factors = -(weights @ self.forms.matrix)[:, None] * self.scales  # c [atoms, components]
        reach = torch.linalg.vector_norm(sizes, dim=-1) / 2  # ρ
        away = centres - self.foci.unsqueeze(2)
        length = torch.linalg.vector_norm(away, dim=-1)  # [atoms, components, squares]
        factors = factors.unsqueeze(-1)
        near = (factors > 0) & (length < 2 * reach)
        slopes = torch.where(near, 0, factors / length.clamp_min(1e-30)).unsqueeze(-1) * away
        bent = reach.square() / (2 * (length - reach)).clamp_min(1e-30)
        above = factors.clamp_min(0) * torch.where(near, reach, bent)
        steepest = torch.linalg.vector_norm(slopes.sum(0), dim=-1) * reach
        upper = (factors * length + above).sum(0) + steepest
        if self.radius is None:
            return upper
        outside = torch.linalg.vector_norm(centres, dim=-1) - reach > self.radius.unsqueeze(-1)
        return torch.where(outside, -torch.inf, upper)

    def _cut(self, centres: Tensor, sizes: Tensor, upper: Tensor) -> tuple[Tensor, Tensor]:
        """Cut the squares with the largest bounds in four, and keep the others."""
        order = upper.argsort(-1, descending=True).unsqueeze(-1).expand_as(centres)
        centres, sizes = centres.gather(1, order), sizes.gather(1, order)
        small = sizes[:, :_CUT] / 2
        quarters = centres[:, :_CUT].unsqueeze(2) + small.unsqueeze(2) * _QUARTERS.to(small)
        small = small.unsqueeze(2).expand_as(quarters)
        cut = torch.cat([quarters.flatten(1, 2), centres[:, _CUT:]], 1)
        return cut, torch.cat([small.flatten(1, 2), sizes[:, _CUT:]], 1)

    def _inside(self, centres: Tensor) -> Tensor:
        """Return the nearest points of the region to centres."""
        if self.radius is None:
            return centres
        length = torch.linalg.vector_norm(centres, dim=-1, keepdim=True)
        return centres * (self.radius[:, None, None] / length.clamp_min(1e-30)).clamp_max(1)
