"""The kernel of violations made of linear forms, [maxₖ minⱼ (Cⱼ · scores + oⱼ)]₊ over alternatives k, and their slopes.

The slope by the scores is the row C of the form that decides; where none is above 0 it is 0.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from clausal.kernels.cpu.options import KERNEL


@njit(**KERNEL)
def add_violations(scores, matrix, offsets, ends, weights, sums, slopes):  # type: ignore[no-untyped-def]
    """Fill in the sums over sets [clauses], and the slopes [clauses, sets, atoms] times the weights of the clauses.

    The forms of alternative k are those before ``ends[k]`` and not of an alternative before it.
    """
    clauses, sets, atoms = scores.shape
    for clause in range(clauses):
        sums[clause] = 0
        for one in range(sets):
            worst, decides, form = np.float32(0), -1, 0
            for end in ends:
                least, least_form = np.float32(np.inf), form
                while form < end:
                    value = offsets[form]
                    for atom in range(atoms):
                        value += matrix[form, atom] * scores[clause, one, atom]
                    if value < least or value != value:  # NaN is kept, as nothing is below it or above it
                        least, least_form = value, form
                    form += 1
                if least > worst or least != least:
                    worst, decides = least, least_form
            sums[clause] += worst
            for atom in range(atoms):
                slopes[clause, one, atom] = weights[clause] * matrix[decides, atom] if decides >= 0 else np.float32(0)
