"""The fact losses of ``training.losses`` and their slopes, for the scores of one fact and of its corruptions."""

from __future__ import annotations

import numpy as np
from numba import njit

from clausal.kernels.cpu.options import PART
from clausal.kernels.model import LOSSES

_HINGE, _PAIRWISE = LOSSES["hinge"], LOSSES["pairwise"]


@njit(**PART)  # type: ignore[untyped-decorator]
def coefficients(loss, margin, subject_weight, score, c_x, c_y):  # type: ignore[no-untyped-def]
    """Return dJ_F/dφ of the fact, and J_F; ``c_x`` and ``c_y`` come as scores of corruptions and leave as slopes."""
    c, total = np.float32(0), np.float32(0)
    if loss != _PAIRWISE:
        slope, total = _term(loss, margin, -score)
        c = -slope
    for scores, weight in ((c_x, subject_weight), (c_y, np.float32(2) - subject_weight)):
        for k in range(len(scores)):
            slope, value = _term(loss, margin, scores[k] - score if loss == _PAIRWISE else scores[k])
            total += weight * value
            scores[k] = weight * slope
            if loss == _PAIRWISE:
                c -= scores[k]
    return c, total


@njit(**PART)  # type: ignore[untyped-decorator]
def _term(loss, margin, score):  # type: ignore[no-untyped-def]
    """Return slope and value of [γ + φ]₊, or of log(1 + exp φ)."""
    if loss <= _PAIRWISE:
        gap = margin + score
        if gap <= 0:  # which NaN is not: it goes on as NaN
            return np.float32(0), np.float32(0)
        return np.float32(1), gap
    decay = np.exp(-abs(score))
    value = max(score, np.float32(0)) + np.log1p(decay)
    return (np.float32(1) if score > 0 else decay) / (1 + decay), value
