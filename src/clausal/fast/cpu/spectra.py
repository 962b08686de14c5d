"""The closed form of one pair of variables on sphere and ball, Σ_a c_a φ_a ≤ maxᵢ σmax(Mᵢ), by a kernel.

Mᵢ is the block of component i, a number or a matrix of two by two, to which every atom adds its own. Only the component
whose singular value is largest has a gradient, which is that of this value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from clausal.fast.cpu.compiling import compiled_kernel, inlined
from clausal.model.scorers.base import Terms


@inlined
def _singular_value(m):  # type: ignore[no-untyped-def]
    """Return σmax of a matrix of two by two: half of the norms of its two conformal parts, added."""
    a, b, c, d = m[0, 0], m[0, 1], m[1, 0], m[1, 1]
    first, second = (a + d) * (a + d) + (b - c) * (b - c), (a - d) * (a - d) + (b + c) * (b + c)
    return (np.sqrt(first) + np.sqrt(second)) / np.float32(2)


@inlined
def _differentiate_(m):  # type: ignore[no-untyped-def]
    """Put the gradient of σmax in the place of a matrix."""
    plus, minus, swap, turn = m[0, 0] + m[1, 1], m[0, 0] - m[1, 1], m[0, 1] + m[1, 0], m[0, 1] - m[1, 0]
    first, second = np.sqrt(plus * plus + turn * turn), np.sqrt(minus * minus + swap * swap)
    first = np.float32(0.5) / first if first != 0 else np.float32(0)
    second = np.float32(0.5) / second if second != 0 else np.float32(0)
    m[0, 0], m[1, 1] = plus * first + minus * second, plus * first - minus * second
    m[0, 1], m[1, 0] = turn * first + swap * second, swap * second - turn * first


@cache
def pair_kernel(terms: Terms) -> Callable[..., Any]:
    """Make the kernel of a scorer whose vectors have one part or two; with one, M is a number beside zeros."""
    constants = tuple((float(w), rho, sigma, omega) for w, rho, sigma, omega in terms.terms)

    @compiled_kernel
    def largest_of_pairs(  # type: ignore[no-untyped-def]
        coefficients, swapped, constant, width, relations, ids, slopes, largest, into
    ):
        """Fill in [maxᵢ σmax(Mᵢ) + constant]₊ [clauses], and add its gradient times slopes to that by relations.

        The second variable of a ``swapped`` atom is its subject.
        """
        block, best_block = np.zeros((2, 2), np.float32), np.zeros((2, 2), np.float32)
        for clause in range(len(ids)):
            best, chosen = np.float32(-1), 0
            for i in range(width):
                block[:] = 0
                for atom in range(len(coefficients)):
                    row = relations[ids[clause, atom]]
                    for weight, rho, sigma, omega in constants:
                        number = coefficients[atom] * np.float32(weight) * row[rho * width + i]
                        if swapped[atom]:
                            block[omega, sigma] += number
                        else:
                            block[sigma, omega] += number
                value = _singular_value(block)
                if value > best or value != value:
                    best, chosen = value, i
                    best_block[:] = block
                if best != best:  # NaN is kept, as nothing exceeds it
                    break
            total = best + constant
            largest[clause] = np.float32(0) if total <= 0 else total
            if total <= 0:
                continue
            _differentiate_(best_block)
            for atom in range(len(coefficients)):
                row = into[ids[clause, atom]]
                for weight, rho, sigma, omega in constants:
                    slope = best_block[omega, sigma] if swapped[atom] else best_block[sigma, omega]
                    row[rho * width + chosen] += slopes[clause] * coefficients[atom] * np.float32(weight) * slope

    return largest_of_pairs
