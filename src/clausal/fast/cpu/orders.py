"""The projection onto equalities and orders on a CPU, column by column: see ``adversary/hard/projection.py``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from clausal.adversary.hard.balances import MARGIN, PAIRS_PER_ROW, rows_in_turns
from clausal.adversary.hard.projection import LEAST_SQUARE
from clausal.adversary.hard.structure import Structure, Tree
from clausal.adversary.hard.sweeps import ENOUGH, levels_of, sweeps_over, turns_of
from clausal.fast.cpu.compiling import as_array, compiled, compiled_kernel, inlined, share

_LANES = 16
"""Columns side by side."""
_MOST_STEPS = 64
_SETTLED = 1e-7
_ULP, _LEAST = 2.0**-23, 2.0**-149
"""The distance of two neighbours of single precision, relative to them, and the least number above 0."""


@compiled_kernel
def project_columns(  # type: ignore[no-untyped-def]
    table,
    squares,
    places,
    columns,
    class_of,
    signs,
    count,
    zero,
    non_negative,
    classes,
    ends,
    parents,
    orientation,
    pairs,
    upwards,
    sweeps,
    members,
    coefficients,
    moved,
    ways,
    lone,
    to_zero,
    within,
    turns,
    row_sweeps,
    first,
    last,
):
    """Move the numbers at places [nodes, columns] of a table into the set; without squares all weigh the same.

    Some blocks of columns, each of them side by side, as vector instructions want them. Places of one column alone are
    those of the first one, with the others next to it.
    """
    apart = places.shape[1] == columns
    values = np.empty((count, _LANES), table.dtype)
    total, light = np.empty_like(values), np.empty_like(values)
    own = np.empty(len(classes), table.dtype)
    reached, excess, pooled = np.empty_like(own), np.empty_like(own), np.empty_like(own)
    pressure, push = np.empty((len(pairs), _LANES), table.dtype), np.empty((len(members), _LANES), table.dtype)
    norms = np.empty((max(len(pairs), len(members)), _LANES), table.dtype)
    least, largest = np.empty(_LANES, table.dtype), np.empty(_LANES, table.dtype)
    sums, sizes = np.empty(_LANES, np.float64), np.empty(_LANES, np.float64)
    for block in range(first, last):
        start = block * _LANES
        width = min(_LANES, columns - start)
        values[:] = 0
        total[:, :width] = 0
        total[:, width:] = 1
        for node in range(len(class_of)):
            one = class_of[node]
            for lane in range(width):
                place = places[node, start + lane] if apart else places[node, 0] + start + lane
                weight = np.sqrt(squares[place] + np.float32(LEAST_SQUARE)) if len(squares) else np.float32(1)
                total[one, lane] += weight
                values[one, lane] += signs[node] * weight * table[place]
        for one in range(count):
            for lane in range(_LANES):
                values[one, lane] /= total[one, lane]
                light[one, lane] = 1 / total[one, lane]
        for one in zero:
            values[one] = 0
        if len(classes):
            for lane in range(width):
                _climb(
                    values[:, lane], total[:, lane], classes, ends, parents, orientation, own, reached, excess, pooled
                )
        if len(pairs):
            _sweep(values, light, pairs, upwards, sweeps, pressure, norms)
        if len(push):
            if within:
                _note_range(values, members, least, largest)
            _balance(values, light, members, coefficients, turns, row_sweeps, push, norms)
            if within:
                for one in members.flat:
                    for lane in range(_LANES):
                        values[one, lane] = min(max(values[one, lane], least[lane]), largest[lane])
            for one in non_negative:
                values[one] = np.maximum(values[one], 0)
            for row in range(len(push)):
                _add_up(values, row, members, coefficients, sums, sizes)
                for lane in range(width):
                    missing = sums[lane] + MARGIN * sizes[lane]
                    if missing > 0:
                        _finish(
                            values, lane, row, members, coefficients, moved, ways[row], lone[row], to_zero[row], missing
                        )
        for one in non_negative:
            values[one] = np.maximum(values[one], 0)
        for node in range(len(class_of)):
            for lane in range(width):
                place = places[node, start + lane] if apart else places[node, 0] + start + lane
                table[place] = signs[node] * values[class_of[node], lane]


@inlined
def _climb(values, sizes, classes, ends, parents, orientation, own, reached, excess, pooled):  # type: ignore[no-untyped-def]
    """Project the trees of a column, which stand in preorder: what lies below a class stands right behind it."""
    for at in range(len(classes)):
        own[at] = orientation[at] * values[classes[at]]
        reached[at] = own[at]
    for top in range(len(classes) - 1, -1, -1):
        if ends[top] == top + 1:
            continue
        for _ in range(_MOST_STEPS):
            for at in range(top, ends[top]):
                pooled[at] = sizes[classes[at]]
                excess[at] = pooled[at] * (own[at] - reached[top])
            for at in range(ends[top] - 1, top, -1):
                if excess[at] > 0:
                    excess[parents[at]] += excess[at]
                    pooled[parents[at]] += pooled[at]
            step = excess[top] / pooled[top]
            if not step > _SETTLED * abs(reached[top]):
                break
            reached[top] += step
    for at in range(len(classes)):
        if parents[at] >= 0:
            reached[at] = min(reached[at], reached[parents[at]])
        values[classes[at]] = orientation[at] * reached[at]


@inlined
def _sweep(values, light, pairs, upwards, sweeps, pressure, norms):  # type: ignore[no-untyped-def]
    """Sweep pairs in turn, and then raise what is below another."""
    pressure[:] = 0
    for at in range(len(pairs)):
        for lane in range(_LANES):
            norms[at, lane] = 1 / (light[pairs[at, 0], lane] + light[pairs[at, 1], lane])
    for _ in range(sweeps):
        open_lanes = 0
        for at in range(len(pairs)):
            lower, upper = pairs[at]
            for lane in range(_LANES):
                wanted = (values[lower, lane] - values[upper, lane]) * norms[at, lane]
                change = wanted if wanted > -pressure[at, lane] else -pressure[at, lane]
                pressure[at, lane] += change
                values[lower, lane] -= light[lower, lane] * change
                values[upper, lane] += light[upper, lane] * change
                open_lanes += abs(change) > ENOUGH * norms[at, lane]
        if not open_lanes:
            break
    for at in range(len(upwards)):
        lower, upper = upwards[at]
        for lane in range(_LANES):
            low, high = values[lower, lane], values[upper, lane]
            values[upper, lane] = low if low > high else high


@inlined
def _balance(values, light, members, coefficients, turns, sweeps, push, norms):  # type: ignore[no-untyped-def]
    """Sweep rows in turn."""
    push[:] = 0
    width = members.shape[1]
    for row in turns:
        for lane in range(_LANES):
            norms[row, lane] = 0
        for at in range(width):
            for lane in range(_LANES):
                norms[row, lane] += coefficients[row, at] * coefficients[row, at] * light[members[row, at], lane]
        for lane in range(_LANES):
            norms[row, lane] = 1 / norms[row, lane]
    change = np.empty(_LANES, values.dtype)
    for _ in range(sweeps):
        open_lanes = 0
        for row in turns:
            for lane in range(_LANES):
                change[lane] = 0
            for at in range(width):
                one, factor = members[row, at], coefficients[row, at]
                for lane in range(_LANES):
                    change[lane] += factor * values[one, lane]
            for lane in range(_LANES):
                wanted = change[lane] * norms[row, lane]
                change[lane] = wanted if wanted > -push[row, lane] else -push[row, lane]
                open_lanes += abs(change[lane]) > ENOUGH * norms[row, lane]
                push[row, lane] += change[lane]
            for at in range(width):
                one, factor = members[row, at], coefficients[row, at]
                for lane in range(_LANES):
                    values[one, lane] -= factor * light[one, lane] * change[lane]
        if not open_lanes:
            break


@inlined
def _note_range(values, members, least, largest):  # type: ignore[no-untyped-def]
    """Note the least and the largest of the values that rows speak of [lanes]."""
    least[:] = values[members[0, 0]]
    largest[:] = least
    for one in members.flat:
        for lane in range(_LANES):
            least[lane] = min(least[lane], values[one, lane])
            largest[lane] = max(largest[lane], values[one, lane])


@inlined
def _add_up(values, row, members, coefficients, sums, sizes):  # type: ignore[no-untyped-def]
    """Add up a row in double precision, and the sizes of its terms [lanes]."""
    for lane in range(_LANES):
        sums[lane] = sizes[lane] = 0
    for at in range(members.shape[1]):
        one, factor = members[row, at], np.float64(coefficients[row, at])
        for lane in range(_LANES):
            term = factor * np.float64(values[one, lane])
            sums[lane] += term
            sizes[lane] += abs(term)


@inlined
def _finish(values, lane, row, members, coefficients, moved, way, lone, to_zero, missing):  # type: ignore[no-untyped-def]
    """Move values of a column by what is missing to a row: see ``adversary/hard/balances.py``."""
    width = members.shape[1]
    movable, furthest = 0.0, -np.inf
    for at in range(width):
        if moved[row, at]:
            movable += abs(coefficients[row, at])
        elif coefficients[row, at] != 0:
            furthest = max(furthest, way * values[members[row, at], lane])
    for at in range(width):
        if moved[row, at]:
            value = values[members[row, at], lane]
            after = np.float64(way * value) + missing / movable
            after = np.float32(after + (_ULP * abs(after) + _LEAST))  # rounded up, by two units at most
            if lone:
                after = min(after, furthest)
            if to_zero:
                after = 0.0
            values[members[row, at], lane] = way * max(way * value, after)


class CompiledProjection:
    """Does what ``Projection`` does by one call of a kernel."""

    def __init__(self, structure: Structure, device: torch.device) -> None:
        classes, ends, parents, orientation = _preorder(structure.trees)
        turns = [pair for turn in turns_of(structure.rest) for pair in turn]
        upwards = [pair for level in levels_of(structure.rest) for pair in level]
        self._arguments = (
            np.array(structure.class_of, np.int64),
            np.array(structure.signs, np.float32),
            len(structure.sizes),
            np.array(structure.zero, np.int64),
            np.array(structure.non_negative, np.int64),
            np.array(classes, np.int64),
            np.array(ends, np.int64),
            np.array(parents, np.int64),
            np.array(orientation, np.float32),
            np.array(turns, np.int64).reshape(-1, 2),
            np.array(upwards, np.int64).reshape(-1, 2),
            sweeps_over(len(structure.rest)),
            *_laid_out(structure),
        )
        self._places: Tensor | None = None
        nowhere = torch.empty(len(structure.class_of), 0, dtype=torch.long)
        compiled(lambda: self.project_(torch.empty(0), nowhere))

    def project_(self, table: Tensor, places: Tensor, squares: Tensor | None = None) -> None:
        """Project the numbers at places [nodes, columns] of a table's memory, in their place."""
        squares = table.new_empty(0) if squares is None else squares
        if places is not self._places:
            side_by_side = bool((places.diff(dim=1) == 1).all())
            self._places, self._firsts = places, as_array(places[:, :1].contiguous() if side_by_side else places)
        arrays = as_array(table), as_array(squares), self._firsts, places.shape[1], *self._arguments
        blocks = -(-places.shape[1] // _LANES)
        share(torch.get_num_threads(), blocks, lambda _, first, last: project_columns(*arrays, first, last))

    def __call__(self, numbers: Tensor, weights: Tensor | None = None) -> Tensor:
        """Return numbers [nodes, columns] in the set: the nearest by their weights, or near it."""
        projected = numbers.clone(memory_format=torch.contiguous_format)
        squares = None if weights is None else weights.square().view(-1)
        self.project_(projected.view(-1), torch.arange(projected.numel()).view_as(projected), squares)
        return projected


def _laid_out(structure: Structure) -> tuple[Any, ...]:
    """Return rows by their classes and the rest, filled up with coefficients of 0, and how often they are swept."""
    rows = structure.rows
    width = max((len(row.classes) for row in rows), default=0)
    place = {id(row): at for at, row in enumerate(rows)}

    def padded(kind: Any, values: Iterable[Sequence[float]]) -> Any:
        filled = [[*one, *[0] * (width - len(one))] for one in values]
        return np.array(filled, kind).reshape(len(rows), width)

    return (
        padded(np.int64, (row.classes + row.classes[:1] * (width - len(row.classes)) for row in rows)),
        padded(np.float32, (row.coefficients for row in rows)),
        padded(np.bool_, (row.moved for row in rows)),
        np.array([-1 if row.falling else 1 for row in rows], np.float32),
        np.array([row.lone for row in rows], np.bool_),
        np.array([row.to_zero for row in rows], np.bool_),
        structure.within,
        np.array([place[id(row)] for turn in rows_in_turns(rows) for row in turn], np.int64),
        sweeps_over(PAIRS_PER_ROW * len(rows)),
    )


def _preorder(trees: list[Tree]) -> tuple[list[int], list[int], list[int], list[float]]:
    """Return classes, the ends of what lies below each, positions of parents, and signs, trees behind each other."""
    classes: list[int] = []
    parents: list[int] = []
    orientation: list[float] = []
    for tree in trees:
        children: dict[int, list[int]] = {}
        for at, parent in enumerate(tree.parents):
            children.setdefault(parent, []).append(at)
        stack = [(root, -1) for root in children[-1]]
        while stack:
            at, parent = stack.pop()
            stack += [(child, len(classes)) for child in children.get(at, ())]
            classes.append(tree.classes[at])
            parents.append(parent)
            orientation.append(1.0 if tree.rising else -1.0)
    ends = [at + 1 for at in range(len(classes))]
    for at in range(len(classes) - 1, -1, -1):
        if parents[at] >= 0:
            ends[parents[at]] = max(ends[parents[at]], ends[at])
    return classes, ends, parents, orientation
