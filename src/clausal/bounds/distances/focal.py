"""Clauses of one variable between constants, p(X, c) ⇒ q(X, d): each constant, moved by its relation, is a focus."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from clausal.bounds.blocks import Bound, LinearForms
from clausal.bounds.distances.budget import farther_within_budget
from clausal.bounds.distances.foci import Farthest, farther_in_ball, farther_in_box, farther_in_rectangle
from clausal.bounds.distances.paths import largest_in_ball, largest_in_box, largest_on_sphere
from clausal.bounds.distances.translations import Translations
from clausal.bounds.distances.triangle import DistanceEdges, Edge
from clausal.bounds.regions import Balls, Discs, Region


@torch.no_grad()
def bound_by_foci(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound | None:
    """Bound min over forms by those of one head and one body, each between the same variable and a constant."""
    points = edges.fixed.new_zeros(len(edges.fixed), edges.free, *edges.fixed.shape[2:])
    value = edges.relations.new_full((len(points),), torch.inf)
    weights = torch.zeros(len(points), len(forms.offsets), dtype=value.dtype, device=value.device)
    for form, (coefficients, offset) in enumerate(zip(forms.matrix.tolist(), forms.offsets.tolist(), strict=True)):
        pair = _head_and_body(edges, coefficients)
        if pair is None:
            continue
        head, body, slot = pair
        found = _farther(edges, edges.focus(head), edges.focus(body), slot, region)
        total = coefficients[body[0]] * found.value + offset
        better = total < value
        value = torch.where(better, total, value)
        weights[better] = torch.nn.functional.one_hot(torch.tensor(form), len(forms.offsets)).to(weights)
        points[better] = 0
        points[better, slot] = found.point.view_as(points[:, slot])[better]
    if value.isinf().any():
        return _bound_by_path(edges, forms, region)
    return Bound(value, weights, torch.cat([points, edges.fixed], 1))


def _bound_by_path(edges: DistanceEdges, forms: LinearForms, region: Region | None) -> Bound | None:
    """Bound two forms of one atom each, as thresholds make them: far from one focus and near another."""
    alone = [[(edge, c) for edge, c in zip(edges.ends, row, strict=True) if c] for row in forms.matrix.tolist()]
    norm = edges.distances.norm if isinstance(edges.distances, Translations) else None
    if norm != "l2" or region is None or [len(one) for one in alone] != [1, 1]:
        return None
    (far_form, head, weight), (near_form, body, other) = sorted(
        ((form, *one[0]) for form, one in enumerate(alone)), key=lambda one: one[2]
    )
    slots = [[slot for slot in edge[1:] if slot < edges.free] for edge in (head, body)]
    if not weight < 0 < other or slots[0] != slots[1] or len(slots[0]) != 1:
        return None
    (slot,), offsets = slots[0], forms.offsets.tolist()
    p, q = (edges.focus(edge).squeeze(-1) for edge in (head, body))
    found = _best_place(
        p, q, slot, region, lambda d: offsets[far_form] - weight * d, lambda d: offsets[near_form] - other * d
    )
    points = edges.fixed.new_zeros(len(p), edges.free, *edges.fixed.shape[2:])
    points[:, slot] = found.point.unsqueeze(-1)
    return Bound(found.value, torch.full((len(p), 2), 0.5).to(p), torch.cat([points, edges.fixed], 1))


def _best_place(
    p: Tensor, q: Tensor, slot: int, region: Region, far: Callable[[Tensor], Tensor], near: Callable[[Tensor], Tensor]
) -> Farthest:
    if isinstance(region, Balls):
        return (largest_on_sphere if region.sphere else largest_in_ball)(p, q, far, near)
    boxes = region.intervals() if isinstance(region, Discs) else region
    return largest_in_box(p, q, boxes.low[:, slot].squeeze(-1), boxes.high[:, slot].squeeze(-1), far, near)


def _head_and_body(edges: DistanceEdges, coefficients: Sequence[float]) -> tuple[Edge, Edge, int] | None:
    """Return the only two atoms of a form, of opposite weight, and the variable that both have beside a constant."""
    used = [(edge, weight) for edge, weight in zip(edges.ends, coefficients, strict=True) if weight]
    if len(used) != 2 or used[0][1] != -used[1][1]:
        return None
    (head, _), (body, _) = sorted(used, key=lambda pair: pair[1])
    slots = [[slot for slot in edge[1:] if slot < edges.free] for edge in (head, body)]
    return (head, body, slots[0][0]) if slots[0] == slots[1] and len(slots[0]) == 1 else None


def _farther(edges: DistanceEdges, p: Tensor, q: Tensor, slot: int, region: Region | None) -> Farthest:
    """Return how much farther a slot can be from p than from q, [clauses, components, size]."""
    whole = isinstance(edges.distances, Translations) and edges.distances.norm == "l2"
    if isinstance(region, Balls):
        if not whole:
            return farther_within_budget(p, q)
        return farther_in_ball(p.squeeze(-1), q.squeeze(-1), torch.ones_like(p[:, 0, 0]))
    if isinstance(region, Discs) and not whole:
        found = farther_in_ball(p, q, region.radius[:, slot])
        return Farthest(found.value.sum(-1), found.point)
    if region is None:  # q itself is the best place
        apart = torch.linalg.vector_norm(p - q, dim=(1, 2)) if whole else (p - q).norm(dim=-1).sum(-1)
        return Farthest(apart, q)
    boxes = region.intervals() if isinstance(region, Discs) else region
    low, high = boxes.low[:, slot], boxes.high[:, slot]
    if whole:
        return farther_in_box(*(one.squeeze(-1) for one in (p, q, low, high)))
    found = farther_in_rectangle(p, q, low, high)
    return Farthest(found.value.sum(-1), found.point)
