"""Closed forms and bounds on sphere and ball by kernels.

For one pair of variables Σ_a c_a φ_a ≤ maxᵢ σmax(Mᵢ), where Mᵢ is the block of component i, a number or a matrix of two
by two, to which every atom adds its own. For longer clauses λ and μ are given, and the largest eigenvalue of all scaled
components decides. Only the component that is largest has a gradient.
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


@cache
def ball_kernel(terms: Terms) -> Callable[..., Any]:
    """Make the kernel of bounds on sphere and ball for given λ and μ: t Σ_v μ_v, with t the largest eigenvalue of all
    D^-½ Mᵢ D^-½ (``bounds/balls/dual.py``).
    """
    constants, parts = tuple((float(w), rho, sigma, omega) for w, rho, sigma, omega in terms.terms), terms.parts

    @inlined
    def fill(matrix, i, width, row_ids, relations, subjects, objects, scales):  # type: ignore[no-untyped-def]
        """Fill in the scaled matrix of component i."""
        matrix[:] = 0
        for atom in range(len(subjects)):
            row = relations[row_ids[atom]]
            for weight, rho, sigma, omega in constants:
                number = scales[atom] * np.float32(weight) * row[rho * width + i]
                one, other = subjects[atom] * parts + sigma, objects[atom] * parts + omega
                matrix[one, other] += number
                matrix[other, one] += number

    @compiled_kernel
    def largest_on_balls(  # type: ignore[no-untyped-def]
        coefficients, offsets, multipliers, subjects, objects, sphere, width, relations, ids, slopes, largest, into
    ):
        """Fill in [offset + t Σ_v μ_v]₊ [clauses], and add its gradient times slopes to that by relations.

        ``coefficients`` [clauses, atoms] and ``offsets`` [clauses] are weighed by λ, μ is [clauses, free]. A component
        whose Frobenius norm is no larger than the best so far cannot have the largest eigenvalue.
        """
        size = multipliers.shape[1] * parts
        matrix, power = np.zeros((size, size), np.float32), np.zeros((size, size), np.float32)
        squared, projector = np.zeros((size, size), np.float32), np.zeros((size, size), np.float32)
        scales, norms = np.zeros(len(subjects), np.float32), np.zeros(width, np.float32)
        for clause in range(len(ids)):
            limit = np.float32(0)
            for slot in range(multipliers.shape[1]):
                limit += multipliers[clause, slot]
            for atom in range(len(subjects)):
                product = multipliers[clause, subjects[atom]] * multipliers[clause, objects[atom]]
                scales[atom] = coefficients[clause, atom] / (np.float32(2) * np.sqrt(product))
            for i in range(width):
                fill(matrix, i, width, ids[clause], relations, subjects, objects, scales)
                norms[i] = np.sqrt((matrix * matrix).sum())
            best, chosen = np.float32(-np.inf), -1
            for _ in range(width):
                place = np.argmax(norms)  # NaN first
                if norms[place] <= best:
                    break
                norms[place] = np.float32(-1)
                fill(matrix, place, width, ids[clause], relations, subjects, objects, scales)
                value = eigenvalue_bound(matrix, power, squared)
                if value > best or value != value:
                    best, chosen = value, int(place)
                    projector[:] = power
                if best != best:
                    break
            scaled = best if sphere or best > 0 or best != best else np.float32(0)
            total = offsets[clause] + scaled * limit
            largest[clause] = np.float32(0) if total <= 0 else total
            if total <= 0 or scaled != best:
                continue
            for atom in range(len(subjects)):
                row = into[ids[clause, atom]]
                slope = slopes[clause] * limit * scales[atom] * np.float32(2)
                for weight, rho, sigma, omega in constants:
                    one, other = subjects[atom] * parts + sigma, objects[atom] * parts + omega
                    row[rho * width + chosen] += slope * np.float32(weight) * projector[one, other]

    return largest_on_balls


@inlined
def eigenvalue_bound(matrix, power, squared):  # type: ignore[no-untyped-def]
    """Bound the largest eigenvalue closely by squaring 13 times; leave its gradient, Aᵖ / tr Aᵖ, in ``power``."""
    size = len(matrix)
    shift = np.float32(1e-30)
    for row in range(size):
        total = np.float32(0)
        for column in range(size):
            total += abs(matrix[row, column])
        shift = max(shift, total)
    power[:] = matrix
    for row in range(size):
        power[row, row] += shift
    logarithm, share = np.float64(0), np.float64(1)
    for step in range(14):
        if step:
            for row in range(size):
                for column in range(size):
                    total = np.float32(0)
                    for k in range(size):
                        total += power[row, k] * power[k, column]
                    squared[row, column] = total
            power[:] = squared
        trace = np.float32(0)
        for row in range(size):
            trace += power[row, row]
        for row in range(size):
            for column in range(size):
                power[row, column] /= trace
        logarithm += np.log(np.float64(trace)) * share
        share /= 2
    return np.float32(np.exp(logarithm) - np.float64(shift))
