"""One row of AdaGrad's step, with its projection: what the descent on a model and the ascent on a set share."""

from __future__ import annotations

import numpy as np
from numba import njit

from clausal.kernels.cpu.options import PART
from clausal.kernels.model import PROJECTIONS

_CLIP, _SPHERE = PROJECTIONS["clip"], PROJECTIONS["sphere"]


@njit(**PART)
def adagrad_row(row, total, g, rate, kind, low, high):  # type: ignore[no-untyped-def]
    """θ ← proj(θ − η g / √Σg²), g being left at zero; a negative η ascends."""
    for i in range(len(row)):
        square = total[i] + g[i] * g[i]
        total[i] = square
        row[i] -= rate * g[i] / (np.sqrt(square) + np.float32(1e-10))
        g[i] = 0
    if kind == _CLIP:
        for i in range(len(row)):
            row[i] = low if row[i] < low else (high if row[i] > high else row[i])
    else:
        square = np.float32(0)
        for i in range(len(row)):
            square += row[i] * row[i]
        norm = np.sqrt(square)
        if kind == _SPHERE and norm == 0:  # as far from every point of the sphere as from any other
            row[:] = np.float32(1 / np.sqrt(len(row)))
        elif kind == _SPHERE or norm > 1:
            for i in range(len(row)):
                row[i] /= norm
