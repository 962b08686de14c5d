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

_ROUNDING = 1e-9
_NEAR = 0.01
"""A bound that searches for its point has it count, even where another bound is smaller by this share."""


def bound_distances(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound:
    """Bound max over a region of min over forms, by the least of all bounds that are known."""
    found = bound_by_triangle(edges, forms, region)
    for other, near in _others(edges, forms, region):
        if other is not None:
            found = _less(other, found, near)
    return found


def _less(one: Bound, other: Bound, near: float) -> Bound:
    """Return the smaller bounds; where both are nearly the same, with the points of the first."""
    looser = one.value > other.value + near * other.value.abs()
    weights = torch.where(looser[:, None], other.weights, one.weights)
    points = torch.where(looser[:, None, None, None], other.components, one.components)
    return Bound(torch.minimum(one.value, other.value), weights, points)


def _others(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Iterator[tuple[Bound | None, float]]:
    """Yield what treats some clauses of a scorer better than the triangle inequality, and how near is the same."""
    norm = edges.distances.norm if isinstance(edges.distances, Translations) else None
    if norm == "l2-squared":
        yield bound_squared(edges, forms, region), _ROUNDING
        return
    if norm == "l1" and isinstance(region, Boxes | Discs):
        yield bound_l1(edges, forms, region), _ROUNDING
        return
    foci = bound_by_foci(edges, forms, region)
    yield foci, _ROUNDING
    if foci is not None and len(forms.offsets) == 1:
        return
    if norm == "l2":
        yield bound_euclidean(edges, forms, region), _NEAR
    elif norm is None and isinstance(region, Boxes | Discs):
        yield bound_by_subdivision(edges, forms, region), _ROUNDING
