"""Closed forms on boxes where a variable meets itself, r(X, X): the largest xᵀ S x + ℓᵀ x of each component.

It lies at a corner, on an edge where the edge is level, or inside where everything is: all of them are tried.
"""

from __future__ import annotations

from itertools import product

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
    """Return points of the box, among them the best one: [clauses, components, candidates, size].

    On each face some numbers are at a side and the others where xᵀ S x + ℓᵀ x is level: 2 S x + ℓ = 0 among them.
    """
    size = low.shape[-1]
    tried = []
    for sides in product((low, high, None), repeat=size):
        moving = [place for place, side in enumerate(sides) if side is None]
        point = torch.stack([low[..., at] if side is None else side[..., at] for at, side in enumerate(sides)], -1)
        if moving:
            held = [place for place in range(size) if place not in moving]
            rows = square[..., moving, :]
            slope = linear[..., moving] + 2 * (rows[..., held] * point[..., None, held]).sum(-1)
            level = _level(rows[..., moving], slope)
            point = point.index_copy(-1, torch.tensor(moving, device=low.device), level)
        tried.append(point)
    found = torch.stack(tried, -2)
    # Where nothing is level the division gives no number; any other point of the box does no harm.
    found = torch.where(found.isfinite(), found, low.unsqueeze(-2))
    return found.clamp(low.unsqueeze(-2), high.unsqueeze(-2)).detach()


def _level(square: Tensor, slope: Tensor) -> Tensor:
    """Return −½ S⁻¹ ℓ for up to three numbers, by Cramer's rule."""
    size = square.shape[-1]
    if size == 1:
        return -slope / (2 * square[..., 0])
    if size == 2:
        (a, c), (_, b) = (row.unbind(-1) for row in square.unbind(-2))
        first, second = slope.unbind(-1)
        return torch.stack([c * second - b * first, c * first - a * second], -1) / (2 * (a * b - c * c))[..., None]
    rows = square.unbind(-2)  # the inverse of a symmetric matrix has cross products of its rows
    crossed = torch.stack([torch.linalg.cross(rows[(at + 1) % 3], rows[(at + 2) % 3]) for at in range(3)], -2)
    determinant = (rows[0] * crossed[..., 0, :]).sum(-1, keepdim=True)
    return -torch.einsum("...vw,...v->...w", crossed, slope) / (2 * determinant)
