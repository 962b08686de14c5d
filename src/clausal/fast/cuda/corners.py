"""Closed forms on boxes on a GPU: the best corner of every component, and λ of two forms; a program for each clause."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from clausal.fast.features import FeatureLoss
from clausal.fast.kernels import CornerFeatures

_STEPS = tl.constexpr(100)
_TIE = tl.constexpr(1e-12)


class CornerLoss(FeatureLoss):
    """The inconsistency loss of closed forms on boxes, with its gradient, in a launch for each group of clauses.

    A group that is not at corners, or whose violation has several alternatives, is left to autograd.
    """

    def add_gradient(self, slopes: Tensor, into: Tensor) -> Tensor | None:
        if any(group.shape.constants for group in self.groups):
            return None
        relations, largest = self.predictor.relations, []
        by_group = slopes.split([len(group) for group in self.groups])
        for group, prepared, of_group in zip(self.groups, self._prepared, by_group, strict=True):
            if isinstance(prepared, list) and len(prepared) == 1:
                largest.append(add_by_corners(prepared[0], group.relations, relations.detach(), of_group, into))
                continue
            inconsistency = self._inconsistency_of(group, prepared)
            (gradient,) = torch.autograd.grad((of_group * inconsistency).sum(), relations)
            into += gradient
            largest.append(inconsistency.detach())
        return torch.cat(largest)


def add_by_corners(corners: CornerFeatures, ids: Tensor, relations: Tensor, slopes: Tensor, into: Tensor) -> Tensor:
    """Return the largest of 0 and Σᵢ maxₖ ⟨f(k), r[i]⟩ + constant of each clause.

    Its gradient by the relations, times the slope of its clause, is added to ``into``; ``ids`` [clauses, atoms] are the
    rows of the atoms' relations in both.
    """
    features, constants = corners
    clauses, count, numbers = features.shape
    parts = numbers // ids.shape[1]
    width = relations.shape[1] // parts
    block, largest = triton.next_power_of_2(width), constants.new_empty(clauses)
    find_best_corners[(clauses,)](
        features, constants, ids.contiguous(), relations, slopes.contiguous(), into, largest,
        corners=count, atoms=ids.shape[1], parts=parts, width=width, block=block,
        num_warps=_warps(block, count),
    )  # fmt: skip
    return largest


def _warps(rows: int, columns: int) -> int:
    """Return how many warps hold a table of numbers in their registers, some dozens in each thread."""
    return max(2, min(16, rows * columns // 1024))


@triton.jit  # type: ignore[untyped-decorator]
def find_best_corners(  # type: ignore[no-untyped-def]
    features, constants, ids, relations, slopes, into, largest,
    corners: tl.constexpr, atoms: tl.constexpr, parts: tl.constexpr, width: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Find the best corner of every component of a clause; its features are the gradient by the relations."""
    clause = tl.program_id(0)
    i, corner = tl.arange(0, block), tl.arange(0, corners)
    inside = i < width
    of_clause = features + clause * (corners * atoms * parts)
    values = tl.zeros([block, corners], tl.float32)
    for atom in tl.static_range(atoms):
        row = relations + tl.load(ids + clause * atoms + atom) * (parts * width)
        for part in tl.static_range(parts):
            f = tl.load(of_clause + corner * (atoms * parts) + atom * parts + part)
            values += tl.load(row + part * width + i, mask=inside, other=0.0)[:, None] * f[None, :]
    best, chosen = tl.max(values, 1, return_indices=True)
    total = tl.sum(tl.where(inside, best, 0.0)) + tl.load(constants + clause)
    tl.store(largest + clause, tl.where(total <= 0, 0.0, total))  # in which NaN stays NaN
    if total > 0:
        slope = tl.load(slopes + clause)
        for atom in tl.static_range(atoms):
            row = into + tl.load(ids + clause * atoms + atom) * (parts * width)
            for part in tl.static_range(parts):
                f = tl.load(of_clause + chosen * (atoms * parts) + atom * parts + part)
                tl.atomic_add(row + part * width + i, slope * f, mask=inside, sem="relaxed")


def optimal_weights(table: Tensor, offsets: Tensor) -> Tensor:
    """Return the λ [problems, 2] of two forms [problems, 2, components, corners] that makes their bound least."""
    problems, _, components, corners = table.shape
    first = offsets.new_empty(problems)
    sizes = {"block": triton.next_power_of_2(components), "corner_block": triton.next_power_of_2(corners)}
    close_in[(problems,)](
        table.contiguous(), offsets.contiguous(), first,
        components=components, corners=corners, **sizes, num_warps=_warps(*sizes.values()),
    )  # fmt: skip
    return torch.stack([first, 1 - first], -1)


@triton.jit  # type: ignore[untyped-decorator]
def close_in(  # type: ignore[no-untyped-def]
    table,
    offsets,
    weights,
    components: tl.constexpr,
    corners: tl.constexpr,
    block: tl.constexpr,
    corner_block: tl.constexpr,
):
    """Close in on the weight of the first form where the bound is least, by its slopes at both ends of an interval.

    The next place is where the tangents cross, or every third time halfway.
    """
    problem = tl.program_id(0)
    first = table + problem.to(tl.int64) * (2 * components * corners)
    offset = tl.load(offsets + 2 * problem + 1)
    rise = tl.load(offsets + 2 * problem) - offset
    left = tl.zeros([], tl.float64)
    right = left + 1.0
    left_value, left_slope = _tangent(first, left, offset, rise, components, corners, block, corner_block)
    right_value, right_slope = _tangent(first, right, offset, rise, components, corners, block, corner_block)
    place = tl.where(left_slope >= 0, left, right)
    step = 0
    open = (left_slope < 0) & (right_slope > 0)
    while open:
        crossing = (right_value - right_slope * right - left_value + left_slope * left) / (left_slope - right_slope)
        crossing = tl.minimum(tl.maximum(crossing, left), right)
        halve = step % 3 == 2
        place = tl.where(halve, (left + right) / 2, crossing)
        value, slope = _tangent(first, place, offset, rise, components, corners, block, corner_block)
        least = value <= left_value + left_slope * (place - left) + _TIE * tl.abs(value)
        below, above = slope < 0, slope > 0
        left_value, left_slope = tl.where(below, value, left_value), tl.where(below, slope, left_slope)
        right_value, right_slope = tl.where(above, value, right_value), tl.where(above, slope, right_slope)
        left, right = tl.where(below, place, left), tl.where(above, place, right)
        step += 1
        settled = (least & (step % 3 != 0)) | (slope == 0) | (right - left <= _TIE)
        open = (step < _STEPS) & (settled == 0)
    tl.store(weights + problem, place)


@triton.jit  # type: ignore[untyped-decorator]
def _tangent(  # type: ignore[no-untyped-def]
    first,
    place,
    offset,
    rise,
    components: tl.constexpr,
    corners: tl.constexpr,
    block: tl.constexpr,
    corner_block: tl.constexpr,
):
    """Return Σᵢ max over corners of place · first + (1 − place) · second, with offsets, and its slope."""
    i, corner = tl.arange(0, block), tl.arange(0, corner_block)
    inside = (i < components)[:, None] & (corner < corners)[None, :]
    at = first + i[:, None] * corners + corner[None, :]
    other = tl.load(at + components * corners, mask=inside, other=0.0)
    difference = tl.load(at, mask=inside, other=0.0) - other
    values = tl.where(inside, other + place * difference, float("-inf"))
    best = tl.max(values, 1)
    slopes = tl.max(tl.where(inside & (values == best[:, None]), difference, float("-inf")), 1)
    value = tl.sum(tl.where(i < components, best, 0.0)) + offset + place * rise
    return value, tl.sum(tl.where(i < components, slopes, 0.0)) + rise
