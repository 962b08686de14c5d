"""AdaGrad's step and the projection, on the rows that a batch touches."""

from __future__ import annotations

import numpy as np
from numba import njit

from clausal.kernels.cpu.options import KERNEL, PART
from clausal.kernels.cpu.prefetch import prefetch
from clausal.kernels.cpu.rows import adagrad_row

_AHEAD = 4
"""How many rows before its turn a row is fetched: a row takes less time than memory takes to answer."""
_BUCKETS = 4096


@njit(**KERNEL)
def adagrad(parameters, sums, gradients, rows, rate, kind, low, high, first, last):  # type: ignore[no-untyped-def]
    """θ ← proj(θ − η g / √Σg²), g being the sum over threads of gradients [threads, slots, dim], left at zero."""
    for slot in range(first, last):
        if slot + _AHEAD < last:
            prefetch(parameters, rows[slot + _AHEAD])
            prefetch(sums, rows[slot + _AHEAD])
        row, total, g = parameters[rows[slot]], sums[rows[slot]], gradients[0, slot]
        for thread in range(1, len(gradients)):
            other = gradients[thread, slot]
            for i in range(len(row)):
                g[i] += other[i]
                other[i] = 0
        adagrad_row(row, total, g, rate, kind, low, high)


@njit(**KERNEL)
def assign_slots(facts, subjects, objects, named, slots, rows):  # type: ignore[no-untyped-def]
    """Give each entity of a batch a slot, nearly in the order of their rows, and return how many there are.

    ``slots`` come as −1 for all entities. Rows in order are updated nearly twice as fast as rows in any other, and
    dealing them into buckets of neighbours brings most of that in a small part of the time of sorting them.
    """
    count = 0
    for column in (facts[:, 0], facts[:, 2]):
        count = _mark(column, slots, rows, count)
    for ids in (subjects.ravel(), objects.ravel(), named):
        count = _mark(ids, slots, rows, count)
    found = rows[:count].copy()
    width = len(slots) // _BUCKETS + 1
    starts = np.zeros(_BUCKETS + 1, np.int64)
    for row in found:
        starts[row // width + 1] += 1
    starts = np.cumsum(starts)
    for row in found:
        slot = starts[row // width]
        starts[row // width] += 1
        rows[slot] = row
        slots[row] = slot
    return count


@njit(**PART)
def _mark(ids, slots, rows, count):  # type: ignore[no-untyped-def]
    """Add to ``rows`` the entities without a slot, and return how many there are now."""
    for row in ids:
        if slots[row] < 0:
            slots[row] = 0
            rows[count] = row
            count += 1
    return count
