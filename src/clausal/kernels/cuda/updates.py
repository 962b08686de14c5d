"""AdaGrad's step and the projection, a program for each row."""

from __future__ import annotations

import triton
import triton.language as tl

from clausal.kernels.model import PROJECTIONS

_CLIP = tl.constexpr(PROJECTIONS["clip"])
_SPHERE = tl.constexpr(PROJECTIONS["sphere"])


@triton.jit  # type: ignore[untyped-decorator]
def adagrad(  # type: ignore[no-untyped-def]
    parameters, sums, gradient, rate, low, high, kind: tl.constexpr, columns: tl.constexpr, block: tl.constexpr
):
    """θ ← proj(θ − η g / √Σg²); the gradient is left at zero."""
    i = tl.arange(0, block)
    inside = i < columns
    at = tl.program_id(0).to(tl.int64) * columns + i
    g = tl.load(gradient + at, mask=inside, other=0.0)
    row = tl.load(parameters + at, mask=inside, other=0.0)
    total = tl.load(sums + at, mask=inside, other=1.0) + g * g
    row -= rate * g / (tl.sqrt_rn(total) + 1e-10)
    if kind == _CLIP:
        row = tl.where(row < low, low, tl.where(row > high, high, row))  # in which NaN stays NaN
    else:
        norm = tl.sqrt_rn(tl.sum(row * row))
        if kind == _SPHERE:
            # The zero vector is as far from every point of the sphere as from any other.
            row = tl.where(norm == 0.0, columns**-0.5, row / tl.where(norm == 0.0, 1.0, norm))
        else:
            row = tl.where(norm > 1.0, row / norm, row)
    tl.store(parameters + at, row, mask=inside)
    tl.store(sums + at, total, mask=inside)
    tl.store(gradient + at, tl.zeros([block], tl.float32), mask=inside)
