"""Bounds for TransE and RotatE: that of the triangle inequality, and exact forms where there are any."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from clausal.bounds.blocks import Bound, LinearForms
from clausal.bounds.distances.euclidean import bound_euclidean
from clausal.bounds.distances.focal import bound_by_foci
from clausal.bounds.distances.separable import bound_l1
from clausal.bounds.distances.squared import bound_squared
from clausal.bounds.distances.subdivision import bound_by_subdivision
from clausal.bounds.distances.translations import Translations
from clausal.bounds.distances.triangle import DistanceEdges, bound_by_triangle
from clausal.bounds.regions import Boxes, Discs, Region

_NEAR = 0.01
"""Where bounds differ by less than this share, the points of the more exact one count."""


def bound_distances(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound:
    """Bound max over a region of min over forms, by the least of all bounds that are known."""
    found = bound_by_triangle(edges, forms, region)
    for other in _others(edges, forms, region):
        if other is not None:
            found = _less(other, found)
    return found


def _less(one: Bound, other: Bound) -> Bound:
    """Return the smaller bounds; where both are nearly the same, with the points of the first."""
    looser = one.value > other.value + _NEAR * other.value.abs()
    weights = torch.where(looser[:, None], other.weights, one.weights)
    points = torch.where(looser[:, None, None, None], other.components, one.components)
    return Bound(torch.minimum(one.value, other.value), weights, points)


def _others(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Iterator[Bound | None]:
    """Yield what treats some clauses of a scorer better than the triangle inequality, the best of them last."""
    norm = edges.distances.norm if isinstance(edges.distances, Translations) else None
    if norm == "l2-squared":
        yield bound_squared(edges, forms, region)
        return
    if norm == "l1" and isinstance(region, Boxes | Discs):
        yield bound_l1(edges, forms, region)
        return
    foci = bound_by_foci(edges, forms, region)
    yield foci
    if foci is not None and len(forms.offsets) == 1:
        return
    if norm == "l2":
        yield bound_euclidean(edges, forms, region)
    elif norm is None and isinstance(region, Boxes | Discs):
        yield bound_by_subdivision(edges, forms, region)
