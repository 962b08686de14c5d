"""Closed forms on boxes on a GPU: the best corner of every component, and λ of two forms; a program for each clause."""

from __future__ import annotations


import torch
import triton
import triton.language as tl
from torch import Tensor

from clausal.fast.features import FeatureLoss
from clausal.fast.kernels import CornerFeatures

_WARPS = 2
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
    largest = constants.new_empty(clauses)
    find_best_corners[(clauses,)](
        features, constants, ids.contiguous(), relations, slopes.contiguous(), into, largest,
        corners=count, atoms=ids.shape[1], parts=parts, width=width, block=triton.next_power_of_2(width),
        num_warps=_WARPS,
    )  # fmt: skip
    return largest


@triton.jit  # type: ignore[untyped-decorator]
def find_best_corners(  # type: ignore[no-untyped-def]
    features, constants, ids, relations, slopes, into, largest,
    corners: tl.constexpr, atoms: tl.constexpr, parts: tl.constexpr, width: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Find the best corner of every component of a clause; its features are the gradient by the relations."""
    clause = tl.program_id(0)
    i = tl.arange(0, block)
    inside = i < width
    of_clause = features + clause * (corners * atoms * parts)
    best = tl.full([block], float("-inf"), tl.float32)
    chosen = tl.zeros([block], tl.int32)
    for corner in range(corners):
        value = tl.zeros([block], tl.float32)
        for atom in tl.static_range(atoms):
            row = relations + tl.load(ids + clause * atoms + atom) * (parts * width)
            for part in tl.static_range(parts):
                f = tl.load(of_clause + corner * (atoms * parts) + atom * parts + part)
                value += f * tl.load(row + part * width + i, mask=inside, other=0.0)
        chosen = tl.where(value > best, corner, chosen)
        best = tl.where(value > best, value, best)
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
    close_in[(problems,)](
        table.contiguous(), offsets.contiguous(), first,
        components=components, corners=corners, block=triton.next_power_of_2(components), num_warps=_WARPS,
    )  # fmt: skip
    return torch.stack([first, 1 - first], -1)


@triton.jit  # type: ignore[untyped-decorator]
def close_in(  # type: ignore[no-untyped-def]
    table, offsets, weights, components: tl.constexpr, corners: tl.constexpr, block: tl.constexpr
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
    left_value, left_slope = _tangent(first, left, offset, rise, components, corners, block)
    right_value, right_slope = _tangent(first, right, offset, rise, components, corners, block)
    place = tl.where(left_slope >= 0, left, right)
    step = 0
    open = (left_slope < 0) & (right_slope > 0)
    while open:
        crossing = (right_value - right_slope * right - left_value + left_slope * left) / (left_slope - right_slope)
        crossing = tl.minimum(tl.maximum(crossing, left), right)
        halve = step % 3 == 2
        place = tl.where(halve, (left + right) / 2, crossing)
        value, slope = _tangent(first, place, offset, rise, components, corners, block)
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
    first, place, offset, rise, components: tl.constexpr, corners: tl.constexpr, block: tl.constexpr
):
    """Return Σᵢ max over corners of place · first + (1 − place) · second, with offsets, and its slope."""
    i = tl.arange(0, block)
    inside = i < components
    best = tl.full([block], float("-inf"), tl.float64)
    slopes = tl.zeros([block], tl.float64)
    for corner in range(corners):
        at = first + i * corners + corner
        other = tl.load(at + components * corners, mask=inside, other=0.0)
        difference = tl.load(at, mask=inside, other=0.0) - other
        here = other + place * difference
        slopes = tl.where(here > best, difference, slopes)
        best = tl.where(here > best, here, best)
    value = tl.sum(tl.where(inside, best, 0.0)) + offset + place * rise
    return value, tl.sum(tl.where(inside, slopes, 0.0)) + rise
