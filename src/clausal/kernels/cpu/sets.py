"""Kernels on adversarial sets: the scores of a clause's atoms, their gradient by its relations, and one ascent step.

A set binds vectors v to the variables of a clause, and its atom a scores φ_r(v[σ_a], v[ω_a]). With the slope
c_a = dJ_I/dφ_a of each score the gradient is Σ_a c_a ∂φ_a. Most slopes are 0, as a set that violates nothing has none
and of a conjunction only the atom with the smallest score has one: those vectors are not read at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from clausal.kernels.cpu.options import KERNEL
from clausal.kernels.cpu.products import add_by_object, add_by_relation, add_by_subject
from clausal.kernels.cpu.rows import adagrad_row
from clausal.kernels.terms import Terms

_Kernel = Callable[..., Any]


class KernelsOfTerms(NamedTuple):
    """The kernels of one scorer; vectors are [clauses, sets, slots, dim], scores and slopes [clauses, sets, atoms]."""

    score: _Kernel
    relation_gradient: _Kernel
    ascend: _Kernel


@cache
def set_kernels(terms: Terms) -> KernelsOfTerms:
    """Make the kernels of a scorer: its terms are constants in them, so that the loops over them are unrolled."""
    constants, parts = tuple((float(w), rho, sigma, omega) for w, rho, sigma, omega in terms.terms), terms.parts

    @njit(**KERNEL)
    def score(vectors, relations, ids, subjects, objects, scores, first, last):  # type: ignore[no-untyped-def]
        """Score the atoms on sets first to last, counted over all clauses."""
        sets, width = vectors.shape[1], vectors.shape[3] // parts
        for row in range(first, last):
            clause, one = row // sets, row % sets
            for atom in range(len(subjects)):
                relation = relations[ids[clause, atom]]
                subject, object = vectors[clause, one, subjects[atom]], vectors[clause, one, objects[atom]]
                total = np.float32(0)
                for i in range(width):
                    for weight, rho, sigma, omega in constants:
                        product = subject[sigma * width + i] * object[omega * width + i]
                        total += np.float32(weight) * relation[rho * width + i] * product
                scores[clause, one, atom] = total

    @njit(**KERNEL)
    def relation_gradient(vectors, subjects, objects, slopes, gradient, first, last):  # type: ignore[no-untyped-def]
        """Add Σ c_a ∂φ_a/∂r over the sets of clauses first to last."""
        for clause in range(first, last):
            for one in range(vectors.shape[1]):
                for atom in range(len(subjects)):
                    c = slopes[clause, one, atom]
                    if c != 0:
                        subject, object = vectors[clause, one, subjects[atom]], vectors[clause, one, objects[atom]]
                        add_by_relation(constants, parts, c, subject, object, gradient[clause, atom])

    @njit(**KERNEL)
    def ascend(  # type: ignore[no-untyped-def]
        vectors, sums, relations, ids, subjects, objects, slopes, rate, kind, low, high, first, last
    ):
        """v ← proj(v + η g / √Σg²) for the vectors of sets first to last, counted over all clauses."""
        sets, slots, dim = vectors.shape[1], vectors.shape[2], vectors.shape[3]
        g, moved = np.zeros((slots, dim), np.float32), np.zeros(slots, np.bool_)
        for row in range(first, last):
            clause, one = row // sets, row % sets
            moved[:] = False
            for atom in range(len(subjects)):
                c = slopes[clause, one, atom]
                if c != 0:
                    s, o, relation = subjects[atom], objects[atom], relations[ids[clause, atom]]
                    add_by_subject(constants, parts, c, relation, vectors[clause, one, o], g[s])
                    add_by_object(constants, parts, c, relation, vectors[clause, one, s], g[o])
                    moved[s] = moved[o] = True
            for slot in range(slots):
                if moved[slot]:
                    adagrad_row(vectors[clause, one, slot], sums[clause, one, slot], g[slot], -rate, kind, low, high)

    return KernelsOfTerms(score, relation_gradient, ascend)
