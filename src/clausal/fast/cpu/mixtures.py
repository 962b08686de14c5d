"""The best λ of two forms on boxes by a CPU kernel: a convex function of one number, made of straight pieces.

It follows ``clausal.bounds.boxes.mixtures``. The next place is where the tangents at both ends cross, or halfway; where
the function is no higher than the tangents at their crossing, that is its minimum.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from clausal.fast.cpu.compiling import as_array, compiled, compiled_kernel, inlined, share

_MOST_THREADS = 4
_STEPS = 100
_HALVE_EVERY = 3
_TIE = 1e-12


def optimal_weights(table: Tensor, offsets: Tensor) -> Tensor:
    """Do what the reference does by a kernel, for two forms in double precision."""
    first = offsets.new_empty(len(table))
    arrays, kernel = (as_array(table.contiguous()), as_array(offsets.contiguous()), as_array(first)), _kernel()

    def work(_thread: int, start: int, end: int) -> None:
        kernel(*arrays, start, end)

    share(min(torch.get_num_threads(), _MOST_THREADS), len(table), work)
    return torch.stack([first, 1 - first], -1)


@cache
def _kernel() -> Any:
    nothing = np.zeros((0, 2, 1, 1)), np.zeros((0, 2)), np.zeros(0)
    compiled(lambda: close_in(*nothing, 0, 0))
    return close_in


@inlined
def _tangent(table, place):  # type: ignore[no-untyped-def]
    """Return Σᵢ max over corners of place · first + (1 − place) · second, and its slope."""
    _, components, corners = table.shape
    value, slope = 0.0, 0.0
    for i in range(components):
        best, rise = -np.inf, 0.0
        for corner in range(corners):
            other = table[1, i, corner]
            difference = table[0, i, corner] - other
            here = other + place * difference
            better = here > best
            best = here if better else best
            rise = difference if better else rise
        value += best
        slope += rise
    return value, slope


@compiled_kernel
def close_in(table, offsets, weights, start, end):  # type: ignore[no-untyped-def]
    """Find the weight of the first form, of tables [problems, 2, components, corners], for problems start to end."""
    for problem in range(start, end):
        of_problem, offset, rise = table[problem], offsets[problem, 1], offsets[problem, 0] - offsets[problem, 1]
        left, right = 0.0, 1.0
        left_value, left_slope = _tangent(of_problem, left)
        right_value, right_slope = _tangent(of_problem, right)
        left_value, left_slope = left_value + offset, left_slope + rise
        right_value, right_slope = right_value + offset + rise, right_slope + rise
        place = 0.0 if left_slope >= 0 else 1.0
        if left_slope < 0 < right_slope:
            for step in range(_STEPS):
                crossing = (right_value - right_slope * right - left_value + left_slope * left) / (
                    left_slope - right_slope
                )
                crossing = min(max(crossing, left), right)
                halve = step % _HALVE_EVERY == _HALVE_EVERY - 1
                place = (left + right) / 2 if halve else crossing
                if right - left <= _TIE:
                    break
                value, slope = _tangent(of_problem, place)
                value, slope = value + offset + place * rise, slope + rise
                if not halve and value <= left_value + left_slope * (place - left) + _TIE * abs(value):
                    break
                if slope < 0:
                    left, left_value, left_slope = place, value, slope
                elif slope > 0:
                    right, right_value, right_slope = place, value, slope
                else:
                    break
        weights[problem] = place
