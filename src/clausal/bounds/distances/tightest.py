"""Bounds for TransE and RotatE: that of the triangle inequality, and exact forms where there are any."""

from __future__ import annotations

import torch

from clausal.bounds.blocks import Bound, LinearForms
from clausal.bounds.distances.focal import bound_by_foci
from clausal.bounds.distances.separable import bound_l1
from clausal.bounds.distances.squared import bound_squared
from clausal.bounds.distances.subdivision import bound_by_subdivision
from clausal.bounds.distances.translations import Translations
from clausal.bounds.distances.triangle import DistanceEdges, bound_by_triangle
from clausal.bounds.regions import Boxes, Discs, Region

_ROUNDING = 1e-9


def bound_distances(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound:
    """Bound max over a region of min over forms, by the least of all bounds that are known."""
    triangle, other = bound_by_triangle(edges, forms, region), _exact(edges, forms, region)
    if other is None:
        return triangle
    # Where both are the same up to rounding, the other one's point attains it.
    looser = other.value > triangle.value + _ROUNDING * triangle.value.abs().clamp_min(1)
    weights = torch.where(looser[:, None], triangle.weights, other.weights)
    points = torch.where(looser[:, None, None, None], triangle.components, other.components)
    return Bound(torch.minimum(triangle.value, other.value), weights, points)


def _exact(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound | None:
    """Return what treats some clauses of a scorer better than the triangle inequality; None for the others."""
    norm = edges.distances.norm if isinstance(edges.distances, Translations) else None
    if norm == "l2-squared":
        return bound_squared(edges, forms, region)
    if norm == "l1" and isinstance(region, Boxes | Discs):
        return bound_l1(edges, forms, region)
    found = bound_by_foci(edges, forms, region)
    if norm is None and isinstance(region, Boxes | Discs) and (found is None or len(forms.offsets) > 1):
        return bound_by_subdivision(edges, forms, region)
    return found
