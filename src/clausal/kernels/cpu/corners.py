"""The kernel of closed forms on boxes: for every component the best corner, Σᵢ maxₖ ⟨f(k), r[i]⟩, and its features.

The features of the best corners are the gradient of that sum by the relations, wherever no two corners are equal.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from clausal.kernels.cpu.options import KERNEL


@njit(**KERNEL)
def best_corners(features, constants, relations, ids, largest, gradient):  # type: ignore[no-untyped-def]
    """Replace what is largest so far [clauses], and its gradient [clauses, numbers, components], where this is larger.

    The features f are [clauses, corners, numbers]; an atom's numbers are the parts of its relation's row, of which
    ``ids`` [clauses, atoms] has the place.
    """
    _, corners, numbers = features.shape
    parts, components = numbers // ids.shape[1], gradient.shape[2]
    value, best = np.empty(components, np.float32), np.empty(components, np.float32)
    chosen = np.empty(components, np.int32)
    for clause in range(len(features)):
        of_clause = features[clause]
        for corner in range(corners):
            value[:] = 0
            for number in range(numbers):
                f, start = of_clause[corner, number], number % parts * components
                row = relations[ids[clause, number // parts], start : start + components]
                for i in range(components):
                    value[i] += f * row[i]
            if corner == 0:
                best[:] = value
                chosen[:] = 0
            else:
                for i in range(components):  # NaN, once there, is never exceeded
                    better = value[i] > best[i]
                    best[i] = value[i] if better else best[i]
                    chosen[i] = np.int32(corner) if better else chosen[i]
        total = best.sum() + constants[clause]
        if total <= largest[clause]:  # which NaN is not
            continue
        largest[clause] = total
        for number in range(numbers):
            for i in range(components):
                gradient[clause, number, i] = of_clause[chosen[i], number]


@njit(**KERNEL)
def add_to_rows(gradient, ids, slopes, into):  # type: ignore[no-untyped-def]
    """Add the gradients of clauses [clauses, numbers, components], times their slopes, to the rows of relations."""
    _, numbers, components = gradient.shape
    parts = numbers // ids.shape[1]
    for clause in range(len(gradient)):
        for number in range(numbers):
            start = number % parts * components
            row = into[ids[clause, number // parts], start : start + components]
            for i in range(components):
                row[i] += slopes[clause] * gradient[clause, number, i]
