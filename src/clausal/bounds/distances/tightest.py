"""Bounds for TransE and RotatE: that of the triangle inequality, and exact forms where there are any."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from clausal.bounds.blocks import Bound, LinearForms
from clausal.bounds.distances.euclidean import bound_euclidean
from clausal.bounds.distances.focal import bound_by_foci
from clausal.bounds.distances.priced import bound_by_prices
from clausal.bounds.distances.separable import bound_l1
from clausal.bounds.distances.squared import bound_squared
from clausal.bounds.distances.subdivision import bound_by_subdivision
from clausal.bounds.distances.translations import Translations
from clausal.bounds.distances.triangle import DistanceEdges, bound_by_triangle
from clausal.bounds.regions import Boxes, Discs, Region

_Bounds = Callable[[DistanceEdges, LinearForms, Region | None], Bound | None]
_EXACT = 1e-9
"""A bound that is attained up to this share needs no other."""


@torch.no_grad()
def bound_distances(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound:
    """Bound max over a region of min over forms: the least of all known bounds, and the best of their points."""
    found = bound_by_triangle(edges, forms, region)
    reached = edges.attained(forms, found.components)
    others = _others(edges, forms, region)
    while (found.value - reached > _EXACT * found.value.abs()).any() and (other := next(others, None)) is not None:
        more = edges.attained(forms, other.components)
        weights = torch.where((other.value < found.value)[:, None], other.weights, found.weights)
        points = torch.where((more > reached)[:, None, None, None], other.components, found.components)
        found = Bound(torch.minimum(other.value, found.value), weights, points)
        reached = torch.maximum(more, reached)
    return found


def _others(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Iterator[Bound]:
    """Yield what treats some clauses of a scorer better than the triangle inequality, the cheapest first."""
    norm = edges.distances.norm if isinstance(edges.distances, Translations) else None
    bounds: list[_Bounds] = []
    if norm == "l2-squared":
        bounds = [bound_squared]
    elif norm == "l1" and isinstance(region, Boxes | Discs):
        bounds = [bound_l1]
    else:
        foci = bound_by_foci(edges, forms, region)
        if foci is not None:
            yield foci
            if len(forms.offsets) == 1:
                return
        bounds = [bound_euclidean] if norm == "l2" else [bound_by_subdivision, bound_by_prices]
    for bound in bounds:
        if (found := bound(edges, forms, region)) is not None:
            yield found
