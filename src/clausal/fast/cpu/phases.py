"""The largest form over discs by a CPU kernel: the phases of three complex variables, clause by clause.

It follows ``clausal.bounds.balls.phases``, whose words it uses. Loops over components are innermost, so that a
processor does several of them at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from clausal.fast.cpu.compiling import as_array, compiled, compiled_kernel, inlined, share

_MOST_THREADS = 4
_FEW_NUMBERS = 1 << 13
"""Numbers of a shape for which one thread is done before another has begun."""
_SINGLE, _DOUBLE = 20, 26
"""How often the way between two phases is halved."""
_LOW, _HIGH = (0, 1, 0), (1, 2, 2)
"""The variables of each pair."""


def scores_at_best_phases(
    matrices: Tensor, weights: Tensor, radius: Tensor, pairs: Sequence[int], is_reversed: Sequence[bool]
) -> Tensor:
    """Do what the reference does by a kernel."""
    scores: Tensor = _BestScores.apply(matrices, weights, radius, pairs, is_reversed)
    return scores


class _BestScores(torch.autograd.Function):
    """At a maximum the phases stay where they are to first order, so that scores are linear in the matrices."""

    @staticmethod
    def forward(
        ctx: Any, matrices: Tensor, weights: Tensor, radius: Tensor, pairs: Sequence[int], is_reversed: Sequence[bool]
    ) -> Tensor:
        places, turned = np.array(pairs, np.int64), np.array(is_reversed, np.int64)
        scores = matrices.new_empty(matrices.shape[:2])
        slopes = matrices.new_empty(*matrices.shape[:3], 2)
        tables = as_array(matrices.contiguous()), as_array(weights.contiguous()), as_array(radius.contiguous())
        kernel = _kernel(matrices.dtype)
        halvings = _SINGLE if matrices.dtype == torch.float32 else _DOUBLE

        def work(_thread: int, first: int, last: int) -> None:
            kernel(*tables, places, turned, as_array(scores), as_array(slopes), halvings, first, last)

        threads = 1 if slopes.numel() < _FEW_NUMBERS else min(torch.get_num_threads(), _MOST_THREADS)
        share(threads, len(matrices), work)
        ctx.slopes, ctx.is_reversed = slopes, is_reversed
        return scores

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        by_number = ctx.slopes * gradients[0][:, :, None, None]
        by_matrix = by_number.new_zeros(*by_number.shape[:3], 2, 2)
        by_matrix[..., 0, 0] = by_number[..., 0]
        for atom, turn in enumerate(ctx.is_reversed):
            by_matrix[:, atom, :, 1 - turn, 0 + turn] = by_number[:, atom, :, 1]
        return by_matrix, None, None, None, None


@cache
def _kernel(dtype: torch.dtype) -> Any:
    """Return the kernel, compiled for numbers of this kind."""
    nothing = [as_array(torch.zeros(*shape, dtype=dtype)) for shape in ((0, 1, 1, 2, 2), (0, 1), (0, 1, 1), (0, 1))]
    places, slopes = np.zeros(1, np.int64), as_array(torch.zeros(0, 1, 1, 2, dtype=dtype))
    compiled(lambda: best_phases(*nothing[:3], places, places, nothing[3], slopes, 0, 0, 0))
    return best_phases


@inlined
def _unit(re, im, one):  # type: ignore[no-untyped-def]
    """Return a number's direction, and 1 for 0."""
    size = np.sqrt(re * re + im * im)
    return (re / size if size > 0 else one), (im / size if size > 0 else one - one)


@compiled_kernel
def best_phases(matrices, weights, radius, pairs, turned, scores, slopes, halvings, first, last):  # type: ignore[no-untyped-def]
    """Score the atoms of clauses first to last at the best phases, with the slopes of the scores by p and q.

    ``matrices`` are [clauses, atoms, components, 2, 2], ``slopes`` [clauses, atoms, components, 2].
    """
    atoms, components = matrices.shape[1], matrices.shape[2]
    one = matrices.dtype.type(1)  # numbers of the same kind: with others a loop would change to double precision
    two, zero = one + one, one - one
    half = one / two
    found = np.zeros(3, np.bool_)
    for pair in pairs:
        found[pair] = True
    circle = found[0] and found[1] and found[2]
    sums = np.empty((6, components), matrices.dtype)  # a, b, c: real and imaginary parts
    ways = np.empty((6, components), matrices.dtype)  # cosine and sine of the whole way, of half of it, of what is gone
    sizes = np.empty((3, components), matrices.dtype)
    units = np.empty((6, components), matrices.dtype)  # what x̄₀x₁, x̄₁x₂ and x̄₀x₂ are
    for clause in range(first, last):
        sums[:] = 0
        for atom in range(atoms):
            pair, turn, weight = pairs[atom], turned[atom], weights[clause, atom]
            low, high = radius[clause, _LOW[pair]], radius[clause, _HIGH[pair]]
            of_atom = matrices[clause, atom]
            real, imaginary = sums[2 * pair], sums[2 * pair + 1]
            for i in range(components):
                limit = weight * low[i] * high[i]
                real[i] += limit * of_atom[i, 0, 0]
                imaginary[i] += limit * of_atom[i, 1 - turn, turn]
        if circle:
            for i in range(components):
                a_re, a_im, b_re, b_im, c_re, c_im = (
                    sums[0, i],
                    sums[1, i],
                    sums[2, i],
                    sums[3, i],
                    sums[4, i],
                    sums[5, i],
                )
                ua_re, ua_im = _unit(a_re, a_im, one)
                ub_re, ub_im = _unit(b_re, b_im, one)
                uc_re, uc_im = _unit(c_re, c_im, one)
                ab_re, ab_im = ua_re * ub_re - ua_im * ub_im, ua_re * ub_im + ua_im * ub_re
                cosine, sine = ab_re * uc_re + ab_im * uc_im, ab_im * uc_re - ab_re * uc_im
                cosine = min(max(cosine, -one), one)
                ways[0, i], ways[1, i] = cosine, abs(sine)
                ways[2, i], ways[3, i] = np.sqrt((one + cosine) * half), np.sqrt((one - cosine) * half)
                ways[4, i], ways[5, i] = one, zero
                a2, b2 = a_re * a_re + a_im * a_im, b_re * b_re + b_im * b_im
                sizes[0, i], sizes[1, i] = np.sqrt(a2 * b2), a2 + b2
                sizes[2, i] = np.sqrt(c_re * c_re + c_im * c_im)
                units[4, i], units[5, i] = uc_re, -uc_im
                units[0, i] = -one if sine < 0 else one
            for _ in range(halvings):
                for i in range(components):
                    cosine, sine, half_cos, half_sin = ways[0, i], ways[1, i], ways[2, i], ways[3, i]
                    gone_cos, gone_sin = ways[4, i], ways[5, i]
                    try_cos, try_sin = (
                        gone_cos * half_cos - gone_sin * half_sin,
                        gone_sin * half_cos + gone_cos * half_sin,
                    )
                    left_cos, left_sin = cosine * try_cos + sine * try_sin, sine * try_cos - cosine * try_sin
                    root = np.sqrt(max(sizes[1, i] + two * sizes[0, i] * left_cos, zero))
                    rising = sizes[0, i] * left_sin > sizes[2, i] * try_sin * root
                    ways[4, i] = try_cos if rising else gone_cos
                    ways[5, i] = try_sin if rising else gone_sin
                    quarter = np.sqrt((one + half_cos) * half)
                    ways[3, i] = half_sin / (two * quarter)
                    ways[2, i] = quarter
            for i in range(components):
                gone_cos, gone_sin, sign = ways[4, i], ways[5, i], units[0, i]
                norm = np.sqrt(gone_cos * gone_cos + gone_sin * gone_sin)
                gone_cos, gone_sin = gone_cos / norm, -sign * gone_sin / norm
                start_re, start_im = units[4, i], units[5, i]
                x2_re, x2_im = start_re * gone_cos - start_im * gone_sin, start_re * gone_sin + start_im * gone_cos
                b_re, b_im = sums[2, i], sums[3, i]
                w_re, w_im = _unit(
                    sums[0, i] + b_re * x2_re - b_im * x2_im, sums[1, i] - b_re * x2_im - b_im * x2_re, one
                )
                units[0, i], units[1, i] = w_re, -w_im
                units[2, i], units[3, i] = x2_re * w_re - x2_im * w_im, x2_im * w_re + x2_re * w_im
                units[4, i], units[5, i] = x2_re, x2_im
        else:  # without a circle every pair has the phase that is best for it
            for pair in range(3):
                for i in range(components):
                    re, im = _unit(sums[2 * pair, i], sums[2 * pair + 1, i], one)
                    units[2 * pair, i], units[2 * pair + 1, i] = re, -im
        for atom in range(atoms):
            pair, turn = pairs[atom], turned[atom]
            low, high = radius[clause, _LOW[pair]], radius[clause, _HIGH[pair]]
            of_atom, slope = matrices[clause, atom], slopes[clause, atom]
            total = zero
            for i in range(components):
                limit = low[i] * high[i]
                by_re, by_im = limit * units[2 * pair, i], -limit * units[2 * pair + 1, i]
                slope[i, 0], slope[i, 1] = by_re, by_im
                total += by_re * of_atom[i, 0, 0] + by_im * of_atom[i, 1 - turn, turn]
            scores[clause, atom] = total
