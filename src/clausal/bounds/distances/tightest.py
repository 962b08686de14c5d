"""Bounds for TransE and RotatE: that of the triangle inequality, and exact forms where there are any."""

from __future__ import annotations

from collections.abc import Callable

import torch

from clausal.bounds.blocks import Bound, LinearForms
from clausal.bounds.distances.focal import bound_by_foci
from clausal.bounds.distances.separable import bound_l1
from clausal.bounds.distances.squared import bound_squared
from clausal.bounds.distances.translations import Translations
from clausal.bounds.distances.triangle import DistanceEdges, bound_by_triangle
from clausal.bounds.regions import Boxes, Discs, Region


def bound_distances(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound:
    """Bound max over a region of min over forms, by the least of all bounds that are known."""
    other = _method(edges, region)(edges, forms, region)
    bounds = [bound_by_triangle(edges, forms, region), *([] if other is None else [other])]
    least = torch.stack([bound.value.detach() for bound in bounds]).argmin(0)
    clauses = torch.arange(len(least), device=least.device)
    value, weights, points = (
        torch.stack([getattr(bound, part) for bound in bounds])[least, clauses]
        for part in ("value", "weights", "components")
    )
    return Bound(value, weights, points)


def _method(edges: DistanceEdges, region: Region | None) -> Callable[..., Bound | None]:
    """Return what treats some clauses of a scorer better than the triangle inequality."""
    norm = edges.distances.norm if isinstance(edges.distances, Translations) else None
    if norm == "l2-squared":
        return bound_squared
    return bound_l1 if norm == "l1" and isinstance(region, Boxes | Discs) else bound_by_foci
