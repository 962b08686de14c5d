"""Widest paths where every step leads both ways: all of them run in a spanning tree of the strongest steps.

The tree grows from one entity on, always by the strongest step that leads out of it. Taken by falling strength, its
steps join sets of entities two by two: who meets by a step has its strength as widest path. What is carried goes up
this tree of sets, to the largest in each set, and down again: an entity gets of every set that it is in the largest,
but no more than the set's strength. All of it takes as many operations as there are pairs.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from clausal.fast.cpu.compiling import as_array, compiled_kernel, share

_COLUMNS = 256
"""Columns that are carried at once."""


def widen_by_tree_(steps: Tensor, carried: Tensor | None) -> None:
    """Do what ``widen_`` does for steps [n, n] that are the same both ways."""
    count, threads = len(steps), torch.get_num_threads()
    if count > 1:
        strongest = steps.amax(1)  # a way to somebody and back
        children, strength = _joined(count, *_spanning_tree(as_array(steps)))
        order, start, middle, end = _ranges(count, children)
        table, parent = as_array(steps), _parents(children)
        arrays = table, order, start, middle, end, parent, strength
        share(threads, count, lambda _, first, last: _fill(*arrays, first, last))
        steps.diagonal().copy_(strongest)
        if carried is not None:
            values = as_array(carried)
            blocks = -(-values.shape[1] // _COLUMNS)
            share(threads, blocks, lambda _, first, last: _carry(values, children, strength, first, last))


@compiled_kernel
def _spanning_tree(steps):  # type: ignore[no-untyped-def]
    """Return the steps of a strongest spanning tree: both ends, and their strengths."""
    count = len(steps)
    nearest, best = np.zeros(count, np.int64), steps[0].copy()
    outside = np.arange(1, count)
    first, second = np.empty(count - 1, np.int64), np.empty(count - 1, np.int64)
    strength = np.empty(count - 1, steps.dtype)
    for step in range(count - 1):
        place = 0
        for i in range(1, count - 1 - step):
            if best[outside[i]] > best[outside[place]]:
                place = i
        new = outside[place]
        outside[place] = outside[count - 2 - step]
        first[step], second[step], strength[step] = nearest[new], new, best[new]
        for i in range(count - 2 - step):
            other = outside[i]
            if steps[new, other] > best[other]:
                best[other], nearest[other] = steps[new, other], new
    return first, second, strength


@compiled_kernel
def _joined(count, first, second, strength):  # type: ignore[no-untyped-def]
    """Return the two sets that each step joins, by falling strength, and the strengths; entities are the first sets."""
    order = np.argsort(-strength, kind="mergesort")
    above = np.arange(2 * count - 1)
    children = np.empty((count - 1, 2), np.int64)
    for place in range(count - 1):
        for side in range(2):
            one = first[order[place]] if side == 0 else second[order[place]]
            while above[one] != one:
                above[one] = above[above[one]]
                one = above[one]
            children[place, side] = one
        above[children[place, 0]] = above[children[place, 1]] = count + place
    return children, strength[order]


@compiled_kernel
def _parents(children):  # type: ignore[no-untyped-def]
    parent = np.full(2 * len(children) + 1, -1)
    for place in range(len(children)):
        parent[children[place, 0]] = parent[children[place, 1]] = len(children) + 1 + place
    return parent


@compiled_kernel
def _ranges(count, children):  # type: ignore[no-untyped-def]
    """Put the entities in an order in which sets are ranges: start, where its second part begins, and end."""
    sets = 2 * count - 1
    size = np.ones(sets, np.int64)
    for place in range(count - 1):
        size[count + place] = size[children[place, 0]] + size[children[place, 1]]
    start = np.zeros(sets, np.int64)
    middle = np.zeros(sets, np.int64)
    order = np.empty(count, np.int64)
    for place in range(count - 2, -1, -1):
        one, other = children[place, 0], children[place, 1]
        start[one] = start[count + place]
        start[other] = middle[count + place] = start[one] + size[one]
    for entity in range(count):
        order[start[entity]] = entity
    return order, start, middle, start + size


@compiled_kernel
def _fill(steps, order, start, middle, end, parent, strength, first, last):  # type: ignore[no-untyped-def]
    """Give some entities their widest paths to all others."""
    count = len(order)
    for x in range(first, last):
        here, at = start[x], parent[x]
        while at >= 0:
            if here < middle[at]:
                low, high = middle[at], end[at]
            else:
                low, high = start[at], middle[at]
            for place in range(low, high):
                steps[x, order[place]] = strength[at - count]
            at = parent[at]


@compiled_kernel
def _carry(carried, children, strength, first, last):  # type: ignore[no-untyped-def]
    """Raise some blocks of columns of what is carried."""
    count, width = carried.shape
    best = np.empty((2 * count - 1, _COLUMNS), carried.dtype)
    for block in range(first, last):
        low = block * _COLUMNS
        columns = min(_COLUMNS, width - low)
        for x in range(count):
            for z in range(columns):
                best[x, z] = carried[x, low + z]
        for place in range(count - 1):
            one, other = best[children[place, 0]], best[children[place, 1]]
            for z in range(columns):
                best[count + place, z] = max(one[z], other[z])
        for place in range(count - 1):
            own = best[count + place]
            for z in range(columns):
                own[z] = min(own[z], strength[place])
        for place in range(count - 2, -1, -1):  # from the largest set down to the entities
            own = best[count + place]
            for side in range(2):
                part = best[children[place, side]]
                for z in range(columns):
                    part[z] = max(part[z], own[z])
        for x in range(count):
            for z in range(columns):
                carried[x, low + z] = best[x, z]
