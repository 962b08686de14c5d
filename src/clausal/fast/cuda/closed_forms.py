"""Closed forms on a GPU: on boxes the best corner of every component and λ of two forms, on sphere and ball the largest
singular value of all components; a program for each clause.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from clausal.adversary.adversary import Adversary
from clausal.adversary.clauses import ClauseGroup
from clausal.fast.cuda.step import term_weights
from clausal.fast.features import FeatureLoss, pair_form
from clausal.fast.kernels import CornerFeatures, PairForm
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import Terms

_STEPS = tl.constexpr(100)
_TIE = tl.constexpr(1e-12)


class ClosedFormLoss(FeatureLoss):
    """The inconsistency loss of closed forms, with its gradient, in a launch for each group of clauses.

    Groups without a kernel are left to autograd: those of several alternatives, or with two atoms in a body on spheres.
    """

    def __init__(self, adversary: Adversary, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> None:
        super().__init__(adversary, predictor, groups)
        forms = [pair_form(adversary, predictor, group) for group in groups]
        self._pairs = [form and _Pairs.of(form, predictor) for form in forms]

    def add_gradient(self, slopes: Tensor, into: Tensor) -> Tensor | None:
        if any(group.shape.constants for group in self.groups):
            return None
        relations, largest = self.predictor.relations, []
        by_group = slopes.split([len(group) for group in self.groups])
        for group, pairs, prepared, of_group in zip(self.groups, self._pairs, self._prepared, by_group, strict=True):
            if pairs is not None:
                largest.append(pairs.add(group.relations, relations.detach(), of_group, into))
            elif isinstance(prepared, list) and len(prepared) == 1:
                largest.append(add_by_corners(prepared[0], group.relations, relations.detach(), of_group, into))
            else:
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
    if total > 0:  # in which names of before may not stand for other shapes
        slope = tl.load(slopes + clause)
        for atom in tl.static_range(atoms):
            to = into + tl.load(ids + clause * atoms + atom) * (parts * width)
            for part in tl.static_range(parts):
                at_best = tl.load(of_clause + chosen * (atoms * parts) + atom * parts + part)
                tl.atomic_add(to + part * width + i, slope * at_best, mask=inside, sem="relaxed")


class _Pairs:
    """A form of pairs of one scorer, its coefficients on the GPU."""

    def __init__(self, form: PairForm, terms: Terms, coefficients: Tensor) -> None:
        self.form = form
        self.terms = terms
        self.coefficients = coefficients
        self.swapped = sum(swapped << atom for atom, swapped in enumerate(form.swapped))

    @staticmethod
    def of(form: PairForm, predictor: LinkPredictor) -> _Pairs:
        assert predictor.scorer.terms is not None
        return _Pairs(form, predictor.scorer.terms, predictor.relations.new_tensor(form.coefficients))

    def add(self, ids: Tensor, relations: Tensor, slopes: Tensor, into: Tensor) -> Tensor:
        """Return [maxᵢ σmax(Mᵢ) + constant]₊ of each clause; add its gradient times slopes to that by relations."""
        width = self.form.width
        largest = relations.new_empty(len(ids))
        find_largest_pair[(len(ids),)](
            self.coefficients, ids.contiguous(), relations, slopes.contiguous(), into, largest, self.form.constant,
            **term_weights(self.terms), atoms=ids.shape[1], swapped=self.swapped,
            relation_parts=relations.shape[1] // width, width=width, block=triton.next_power_of_2(width), num_warps=2,
        )  # fmt: skip
        return largest


@triton.jit  # type: ignore[untyped-decorator]
def find_largest_pair(  # type: ignore[no-untyped-def]
    coefficients, ids, relations, slopes, into, largest, constant,
    w000: tl.constexpr, w001: tl.constexpr, w010: tl.constexpr, w011: tl.constexpr,
    w100: tl.constexpr, w101: tl.constexpr, w110: tl.constexpr, w111: tl.constexpr,
    atoms: tl.constexpr, swapped: tl.constexpr, relation_parts: tl.constexpr, width: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Find the component whose block M = (a b; c d) has the largest singular value, and its gradient by relations."""
    clause = tl.program_id(0)
    i = tl.arange(0, block)
    inside = i < width
    a, b = tl.zeros([block], tl.float32), tl.zeros([block], tl.float32)
    c, d = tl.zeros([block], tl.float32), tl.zeros([block], tl.float32)
    for atom in tl.static_range(atoms):
        coefficient = tl.load(coefficients + atom)
        row = relations + tl.load(ids + clause * atoms + atom) * (relation_parts * width) + i
        r0 = coefficient * tl.load(row, mask=inside, other=0.0)
        r1 = r0 * 0.0
        if relation_parts == 2:
            r1 = coefficient * tl.load(row + width, mask=inside, other=0.0)
        a += w000 * r0 + w100 * r1
        d += w011 * r0 + w111 * r1
        if (swapped >> atom) % 2:
            b += w010 * r0 + w110 * r1
            c += w001 * r0 + w101 * r1
        else:
            b += w001 * r0 + w101 * r1
            c += w010 * r0 + w110 * r1
    turned = tl.sqrt((a + d) * (a + d) + (b - c) * (b - c))
    mirrored = tl.sqrt((a - d) * (a - d) + (b + c) * (b + c))
    values = tl.where(inside, (turned + mirrored) / 2, -1.0)
    best, chosen = tl.max(values, 0, return_indices=True)
    total = best + constant
    tl.store(largest + clause, tl.where(total <= 0, 0.0, total))  # in which NaN stays NaN
    if total > 0:
        slope = tl.load(slopes + clause) / 2
        by_turn, by_mirror = slope / tl.where(turned > 0, turned, 1.0), slope / tl.where(mirrored > 0, mirrored, 1.0)
        by_a = (a + d) * by_turn + (a - d) * by_mirror
        by_b = (b - c) * by_turn + (b + c) * by_mirror
        by_c = (b + c) * by_mirror - (b - c) * by_turn
        by_d = (a + d) * by_turn - (a - d) * by_mirror
        for atom in tl.static_range(atoms):
            scale = tl.load(coefficients + atom)
            to = into + tl.load(ids + clause * atoms + atom) * (relation_parts * width) + i
            if (swapped >> atom) % 2:
                first = w000 * by_a + w010 * by_b + w001 * by_c + w011 * by_d
                second = w100 * by_a + w110 * by_b + w101 * by_c + w111 * by_d
            else:
                first = w000 * by_a + w001 * by_b + w010 * by_c + w011 * by_d
                second = w100 * by_a + w101 * by_b + w110 * by_c + w111 * by_d
            tl.atomic_add(to, scale * first, mask=i == chosen, sem="relaxed")
            if relation_parts == 2:
                tl.atomic_add(to + width, scale * second, mask=i == chosen, sem="relaxed")


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
