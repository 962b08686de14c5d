"""The kernel of closed forms on boxes: for every component the best corner, Σᵢ maxₖ ⟨f(k), r[i]⟩, and its features.

The features of the best corners are the gradient of that sum by the relations, wherever no two corners are equal.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from clausal.kernels.cpu.options import KERNEL


@njit(**KERNEL)
def best_corners(features, constants, relations, largest, gradient):  # type: ignore[no-untyped-def]
    """Replace what is largest so far [clauses], and its gradient [clauses, numbers, components], where this is larger.

    The features f are [clauses, corners, numbers], the relations r [clauses, numbers, components].
    """
    _, corners, numbers = features.shape
    components = relations.shape[2]
    value, best = np.empty(components, np.float32), np.empty(components, np.float32)
    chosen = np.empty(components, np.int32)
    for clause in range(len(relations)):
        of_clause, relation = features[clause], relations[clause]
        for corner in range(corners):
            value[:] = 0
            for number in range(numbers):
                f, row = of_clause[corner, number], relation[number]
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
