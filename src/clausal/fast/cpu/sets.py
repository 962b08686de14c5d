"""Kernels on adversarial sets: the scores of a clause's atoms, their gradient by its relations, and ascent steps.

A set binds vectors v to the variables of a clause, and its atom a scores φ_r(v[σ_a], v[ω_a]). With the slope
c_a = dJ_I/dφ_a of each score the gradient is Σ_a c_a ∂φ_a. Most slopes are 0, as a set that violates nothing has none
and of a conjunction only the atom with the smallest score has one: those vectors are not read at all.

Violations are made of linear forms, [maxₖ minⱼ (Cⱼ · scores + oⱼ)]₊ over alternatives k; their slope by the scores is
the row C of the form that decides, and 0 where none is above 0. A closed form on a box is, for every component, the
best corner, Σᵢ maxₖ ⟨f(k), r[i]⟩; the features f of the best corners are its gradient by the relations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from clausal.fast.cpu.compiling import compiled_kernel, inlined
from clausal.fast.cpu.parts import (
    adagrad_row,
    add_by_object,
    add_by_relation,
    add_by_subject,
    farthest_row,
    plain_row,
    project_row,
)
from clausal.model.scorers.base import Terms

_Kernel = Callable[..., Any]


class KernelsOfTerms(NamedTuple):
    """The kernels of one scorer; vectors are [clauses, sets, slots, dim], scores and slopes [clauses, sets, atoms]."""

    score: _Kernel
    relation_gradient: _Kernel
    ascend: _Kernel
    alternate: _Kernel


@cache
def set_kernels(terms: Terms) -> KernelsOfTerms:
    """Make the kernels of a scorer: its terms are constants in them, so that the loops over them are unrolled."""
    constants, parts = tuple((float(w), rho, sigma, omega) for w, rho, sigma, omega in terms.terms), terms.parts

    @inlined
    def score_set(bound, relations, ids, subjects, objects, scores):  # type: ignore[no-untyped-def]
        """Score the atoms on one set."""
        width = bound.shape[1] // parts
        for atom in range(len(subjects)):
            relation, subject, object = relations[ids[atom]], bound[subjects[atom]], bound[objects[atom]]
            total = np.float32(0)
            for i in range(width):
                for weight, rho, sigma, omega in constants:
                    product = subject[sigma * width + i] * object[omega * width + i]
                    total += np.float32(weight) * relation[rho * width + i] * product
            scores[atom] = total

    @compiled_kernel
    def score(vectors, relations, ids, subjects, objects, scores, first, last):  # type: ignore[no-untyped-def]
        """Score the atoms on sets first to last, counted over all clauses."""
        sets = vectors.shape[1]
        for row in range(first, last):
            clause, one = row // sets, row % sets
            score_set(vectors[clause, one], relations, ids[clause], subjects, objects, scores[clause, one])

    @compiled_kernel
    def relation_gradient(vectors, subjects, objects, slopes, gradient, first, last):  # type: ignore[no-untyped-def]
        """Add Σ c_a ∂φ_a/∂r over the sets of clauses first to last."""
        for clause in range(first, last):
            for one in range(vectors.shape[1]):
                for atom in range(len(subjects)):
                    c = slopes[clause, one, atom]
                    if c != 0:
                        subject, object = vectors[clause, one, subjects[atom]], vectors[clause, one, objects[atom]]
                        add_by_relation(constants, parts, c, subject, object, gradient[clause, atom])

    @compiled_kernel
    def ascend(  # type: ignore[no-untyped-def]
        vectors, sums, relations, ids, subjects, objects, slopes, rate, kind, low, high, first, last
    ):
        """v ← proj(v + η g / √Σg²) for the vectors of sets first to last, counted over all clauses.

        Without sums [0, …] it is v ← proj(v + η g).
        """
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
                if moved[slot] and len(sums):
                    adagrad_row(vectors[clause, one, slot], sums[clause, one, slot], g[slot], -rate, kind, low, high)
                elif moved[slot]:
                    plain_row(vectors[clause, one, slot], g[slot], -rate, kind, low, high)

    @compiled_kernel
    def alternate(  # type: ignore[no-untyped-def]
        vectors,
        relations,
        ids,
        subjects,
        objects,
        matrix,
        offsets,
        ends,
        shares,
        steps,
        kind,
        low,
        high,
        first,
        last,
    ):
        """Move one slot after the other to where a clause is violated most, for sets first to last over all clauses."""
        sets, slots, dim = vectors.shape[1], vectors.shape[2], vectors.shape[3]
        scores = np.empty(len(subjects), np.float32)
        g, before, far = np.zeros(dim, np.float32), np.empty(dim, np.float32), np.empty(dim, np.float32)
        for row in range(first, last):
            clause, bound = row // sets, vectors[row // sets, row % sets]
            of_atoms = ids[clause]
            score_set(bound, relations, of_atoms, subjects, objects, scores)
            reached, decides = degree_of(scores, matrix, offsets, ends)
            for turn in range(steps * slots):
                slot = turn % slots
                g[:] = 0
                for atom in range(len(subjects)):
                    c = matrix[decides, atom]
                    if c != 0 and subjects[atom] == slot:
                        add_by_subject(constants, parts, c, relations[of_atoms[atom]], bound[objects[atom]], g)
                    if c != 0 and objects[atom] == slot:
                        add_by_object(constants, parts, c, relations[of_atoms[atom]], bound[subjects[atom]], g)
                if not g.any():
                    continue
                farthest_row(g, kind, low, high, far)
                before[:] = bound[slot]
                taken = False
                for share in shares:
                    for i in range(dim):
                        bound[slot, i] = before[i] + share * (far[i] - before[i])
                    project_row(bound[slot], kind, low, high)
                    score_set(bound, relations, of_atoms, subjects, objects, scores)
                    there, form = degree_of(scores, matrix, offsets, ends)
                    if there >= reached:
                        reached, decides, taken = there, form, True
                        break
                if not taken:
                    bound[slot] = before

    return KernelsOfTerms(score, relation_gradient, ascend, alternate)


@inlined
def degree_of(scores, matrix, offsets, ends):  # type: ignore[no-untyped-def]
    """Return maxₖ minⱼ (Cⱼ · scores + oⱼ), and the form that decides.

    The forms of alternative k are those before ``ends[k]`` and not of an alternative before it.
    """
    worst, decides, form = np.float32(-np.inf), 0, 0
    for end in ends:
        least, least_form = np.float32(np.inf), form
        while form < end:
            value = offsets[form]
            for atom in range(len(scores)):
                value += matrix[form, atom] * scores[atom]
            if value < least or value != value:  # NaN is kept, as nothing is below it or above it
                least, least_form = value, form
            form += 1
        if least > worst or least != least:
            worst, decides = least, least_form
    return worst, decides


@compiled_kernel
def add_violations(scores, matrix, offsets, ends, weights, sums, slopes):  # type: ignore[no-untyped-def]
    """Fill in the sums over sets [clauses], and the slopes [clauses, sets, atoms] times the weights of the clauses."""
    clauses, sets, atoms = scores.shape
    for clause in range(clauses):
        sums[clause] = 0
        for one in range(sets):
            worst, decides = degree_of(scores[clause, one], matrix, offsets, ends)
            holds = worst <= 0  # which NaN is not
            sums[clause] += np.float32(0) if holds else worst
            for atom in range(atoms):
                slopes[clause, one, atom] = np.float32(0) if holds else weights[clause] * matrix[decides, atom]


@compiled_kernel
def best_corners(features, constants, relations, ids, largest, gradient):  # type: ignore[no-untyped-def]
    """Replace what is largest so far [clauses], and its gradient [clauses, numbers, components], where this is larger.

    The features f are [clauses, corners, numbers]; an atom's numbers are the parts of its relation's row, of which
    ``ids`` [clauses, atoms] has the place.
    """
    _, corners, numbers = features.shape
    parts, components = numbers // ids.shape[1], gradient.shape[2]
    value, best = np.empty(components, np.float32), np.empty(components, np.float32)
    chosen = np.empty(components, np.int32)
    for clause in range(len(features)):
        of_clause = features[clause]
        for corner in range(corners):
            value[:] = 0
            for number in range(numbers):
                f, start = of_clause[corner, number], number % parts * components
                row = relations[ids[clause, number // parts], start : start + components]
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


@compiled_kernel
def add_to_rows(gradient, ids, slopes, into):  # type: ignore[no-untyped-def]
    """Add the gradients of clauses [clauses, numbers, components], times their slopes, to the rows of relations."""
    _, numbers, components = gradient.shape
    parts = numbers // ids.shape[1]
    for clause in range(len(gradient)):
        for number in range(numbers):
            start = number % parts * components
            row = into[ids[clause, number // parts], start : start + components]
            for i in range(components):
                row[i] += slopes[clause] * gradient[clause, number, i]
