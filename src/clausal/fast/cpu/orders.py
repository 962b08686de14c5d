"""The projection onto equalities and orders on a CPU, column by column: see ``adversary/hard/projection.py``."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from clausal.adversary.hard.projection import levels_of, shares_of, sweeps_over, turns_of
from clausal.adversary.hard.structure import Structure, Tree
from clausal.fast.cpu.compiling import as_array, compiled, compiled_kernel, inlined

_MOST_STEPS = 64
_SETTLED = 1e-7


@compiled_kernel
def project_columns(  # type: ignore[no-untyped-def]
    table,
    places,
    class_of,
    signs,
    sizes,
    zero,
    non_negative,
    classes,
    ends,
    parents,
    orientation,
    pairs,
    shares,
    upwards,
    sweeps,
):
    """Move the numbers at places [nodes, columns] of a table into the set."""
    numbers = np.empty(places.shape, table.dtype)
    for node in range(places.shape[0]):
        for column in range(places.shape[1]):
            numbers[node, column] = table[places[node, column]]
    values = np.empty(len(sizes), numbers.dtype)
    own = np.empty(len(classes), numbers.dtype)
    reached, excess, pooled = np.empty_like(own), np.empty_like(own), np.empty_like(own)
    pressure = np.empty(len(pairs), numbers.dtype)
    for column in range(numbers.shape[1]):
        values[:] = 0
        for node in range(len(class_of)):
            values[class_of[node]] += signs[node] * numbers[node, column]
        for one in range(len(sizes)):
            values[one] /= sizes[one]
        for one in zero:
            values[one] = 0
        if len(classes):
            _climb(values, sizes, classes, ends, parents, orientation, own, reached, excess, pooled)
        if len(pairs):
            _sweep(values, pairs, shares, upwards, sweeps, pressure)
        for one in non_negative:
            values[one] = max(values[one], 0)
        for node in range(len(class_of)):
            numbers[node, column] = signs[node] * values[class_of[node]]
    for node in range(places.shape[0]):
        for column in range(places.shape[1]):
            table[places[node, column]] = numbers[node, column]


@inlined
def _climb(values, sizes, classes, ends, parents, orientation, own, reached, excess, pooled):  # type: ignore[no-untyped-def]
    """Project the trees, which stand in preorder: what lies below a class stands right behind it."""
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
def _sweep(values, pairs, shares, upwards, sweeps, pressure):  # type: ignore[no-untyped-def]
    """Sweep pairs in turn, and then raise what is below another."""
    pressure[:] = 0
    for _ in range(sweeps):
        moved = values[0] * 0
        for at in range(len(pairs)):
            lower, upper = pairs[at]
            change = max(values[lower] - values[upper], -pressure[at])
            pressure[at] += change
            values[lower] -= shares[at, 0] * change
            values[upper] += shares[at, 1] * change
            moved = max(moved, abs(change))
        if moved <= _SETTLED:
            break
    for at in range(len(upwards)):
        values[upwards[at, 1]] = max(values[upwards[at, 1]], values[upwards[at, 0]])


class CompiledProjection:
    """Does what ``Projection`` does by one call of a kernel."""

    def __init__(self, structure: Structure, device: torch.device) -> None:
        classes, ends, parents, orientation = _preorder(structure.trees)
        turns = [pair for turn in turns_of(structure.rest) for pair in turn]
        upwards = [pair for level in levels_of(structure.rest) for pair in level]
        self._arguments = (
            np.array(structure.class_of, np.int64),
            np.array(structure.signs, np.float32),
            np.array(structure.sizes, np.float32),
            np.array(structure.zero, np.int64),
            np.array(structure.non_negative, np.int64),
            np.array(classes, np.int64),
            np.array(ends, np.int64),
            np.array(parents, np.int64),
            np.array(orientation, np.float32),
            np.array(turns, np.int64).reshape(-1, 2),
            np.array([shares_of(pair, structure.sizes) for pair in turns], np.float32).reshape(-1, 2),
            np.array(upwards, np.int64).reshape(-1, 2),
            sweeps_over(structure.rest),
        )
        nowhere = torch.empty(len(structure.class_of), 0, dtype=torch.long)
        compiled(lambda: self.project_(torch.empty(0), nowhere))

    def project_(self, table: Tensor, places: Tensor) -> None:
        """Project the numbers at places [nodes, columns] of a table's memory, in their place."""
        project_columns(as_array(table), as_array(places), *self._arguments)

    def __call__(self, numbers: Tensor) -> Tensor:
        """Return numbers [nodes, columns] in the set: the nearest, or near it."""
        projected = numbers.clone(memory_format=torch.contiguous_format)
        self.project_(projected.view(-1), torch.arange(projected.numel()).view_as(projected))
        return projected


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
