"""Closed forms on boxes where a variable meets itself, r(X, X): the largest xᵀ S x + ℓᵀ x of each component.

It lies at a corner, on an edge where the edge is level, or inside where everything is: all of them are tried.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.bounds.blocks import AtomBlocks, Bound, GatheredForm, LinearForms, gather_form
from clausal.bounds.regions import Boxes

_MOST_NUMBERS_OF_A_COMPONENT = 2


def is_quadratic(form: GatheredForm, forms: LinearForms, boxes: Boxes) -> bool:
    """Say whether there is one form, in which every variable stands alone and one meets itself."""
    alone = bool(form.squares) and not form.pairs
    return alone and len(forms.offsets) == 1 and boxes.low.shape[-1] <= _MOST_NUMBERS_OF_A_COMPONENT


def bound_quadratics(atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, free: int) -> Bound | None:
    """Return the largest value of a form that is quadratic; else None."""
    form = gather_form(atoms, forms, boxes.low[:, free:], free)
    if not is_quadratic(form, forms, boxes):
        return None
    value, best = largest_quadratic(form, boxes)
    points = boxes.low.detach().clone()
    for slot, vectors in best.items():
        points[:, slot] = vectors
    return Bound(value, value.new_ones(len(value), 1).detach(), points)


def largest_quadratic(form: GatheredForm, boxes: Boxes) -> tuple[Tensor, dict[int, Tensor]]:
    """Return the largest value [clauses], differentiable, and where it is: vectors [clauses, components, size]."""
    value, points = form.constant, {}
    nothing = torch.zeros_like(next(iter(form.squares.values())))
    for slot in {*form.squares, *form.linear}:
        square = form.squares.get(slot, nothing)
        square = (square + square.mT) / 2
        linear = form.linear.get(slot, nothing[..., 0])
        tried = box_candidates(square.detach(), linear.detach(), boxes.low[:, slot], boxes.high[:, slot])
        values = ((tried @ square) * tried).sum(-1) + (tried @ linear.unsqueeze(-1)).squeeze(-1)
        best, place = values.max(-1)  # [clauses, components]
        value = value + best.sum(-1)
        index = place[..., None, None].expand(*place.shape, 1, tried.shape[-1])
        points[slot] = tried.gather(2, index).squeeze(2)
    return value, points


def box_candidates(square: Tensor, linear: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Return points of the box, among them the best one: [clauses, components, candidates, size]."""
    diagonal = square.diagonal(dim1=-2, dim2=-1)
    if low.shape[-1] == 1:
        tried = torch.stack([low, high, -linear / (2 * diagonal)], -2)
    else:
        across, (a, b), (first, second) = square[..., 0, 1], diagonal.unbind(-1), linear.unbind(-1)
        determinant = 2 * (a * b - across**2)
        points = [((across * second - b * first) / determinant, (across * first - a * second) / determinant)]
        for x in (low[..., 0], high[..., 0]):
            points += [(x, low[..., 1]), (x, high[..., 1]), (x, -(second + 2 * across * x) / (2 * b))]
        for y in (low[..., 1], high[..., 1]):
            points.append((-(first + 2 * across * y) / (2 * a), y))
        tried = torch.stack([torch.stack(point, -1) for point in points], -2)
    # Where nothing is level the division gives no number; any other point of the box does no harm.
    tried = torch.where(tried.isnan(), low.unsqueeze(-2), tried)
    return tried.clamp(low.unsqueeze(-2), high.unsqueeze(-2)).detach()
