"""The gradient of the fact loss: one fact at a time, with its corruptions, while their vectors are in the cache.

φ_r(x, y) = Σ_t w_t Σᵢ r[ρ_t][i] x[σ_t][i] y[ω_t][i] is linear in each vector. With a = ∂φ_r(·, o), b = ∂φ_r(s, ·):
the fact scores b · o, its corruptions x and y score a · x and b · y. With c = dJ_F/dφ of each of these scores,
c₀, c_x and c_y, and with Y = c₀ o + Σ c_y y and X = Σ c_x x, the gradient is that of φ_r(s, Y) + φ_r(X, o):

    ∂s = ∂φ_r(·, Y)        ∂o = ∂φ_r(X + c₀ s, ·)        ∂x = c_x a        ∂y = c_y b        ∂r = ∂φ.(s, Y) + ∂φ.(X, o)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from clausal.fast.cpu.compiling import compiled_kernel, inlined
from clausal.fast.cpu.parts import ONE, add_by_object, add_by_subject, prefetch
from clausal.fast.kernels import LOSS_NUMBERS
from clausal.model.scorers.base import Terms

_PAIRWISE, _LOGISTIC = LOSS_NUMBERS["pairwise"], LOSS_NUMBERS["logistic"]


@cache
def fact_kernel(terms: Terms) -> Callable[..., float]:
    """Make the kernel of a scorer: its terms are constants in it, so that the loops over them are unrolled."""
    constants, parts = tuple((float(w), rho, sigma, omega) for w, rho, sigma, omega in terms.terms), terms.parts

    @compiled_kernel
    def add_fact_gradients(  # type: ignore[no-untyped-def]
        entities, relations, facts, subjects, objects, slots, loss, margin, weights, entity_gradient,
        relation_gradient, first, last,
    ):  # fmt: skip
        """Add ∇J_F of facts first to last, and return J_F; ``slots`` are the rows of the entities' gradients."""
        count, dim = len(subjects), entities.shape[1]
        a, b = np.empty(dim, np.float32), np.empty(dim, np.float32)
        x_sum, y_sum = np.empty(dim, np.float32), np.empty(dim, np.float32)
        c_x, c_y = np.empty(count, np.float32), np.empty(count, np.float32)
        total = 0.0
        for j in range(first, last):
            if j + 1 < last:
                for row in (facts[j + 1, 0], facts[j + 1, 2]):
                    prefetch(entities, row)
                    prefetch(entity_gradient, slots[row])
                for k in range(count):
                    for row in (subjects[k, j + 1], objects[k, j + 1]):
                        prefetch(entities, row)
                        prefetch(entity_gradient, slots[row])
            s, p, o = facts[j, 0], facts[j, 1], facts[j, 2]
            subject, relation, object = entities[s], relations[p], entities[o]
            a[:] = 0
            b[:] = 0
            add_by_subject(constants, parts, ONE, relation, object, a)
            add_by_object(constants, parts, ONE, relation, subject, b)
            for k in range(count):
                c_x[k], c_y[k] = _dot(a, entities[subjects[k, j]]), _dot(b, entities[objects[k, j]])
            c, value = _coefficients(loss, margin, weights[p], _dot(b, object), c_x, c_y)
            total += value
            if c == 0 and not c_x.any() and not c_y.any():
                continue
            x_sum[:] = 0
            y_sum[:] = 0
            _add(c, object, y_sum)
            for k in range(count):
                x, y = subjects[k, j], objects[k, j]
                if c_x[k] != 0:
                    _add(c_x[k], entities[x], x_sum)
                    _add(c_x[k], a, entity_gradient[slots[x]])
                if c_y[k] != 0:
                    _add(c_y[k], entities[y], y_sum)
                    _add(c_y[k], b, entity_gradient[slots[y]])
            _add_by_relation(constants, parts, subject, y_sum, x_sum, object, relation_gradient[p])
            add_by_subject(constants, parts, ONE, relation, y_sum, entity_gradient[slots[s]])
            _add(c, subject, x_sum)
            add_by_object(constants, parts, ONE, relation, x_sum, entity_gradient[slots[o]])
        return total

    kernel: Callable[..., float] = add_fact_gradients
    return kernel


@inlined
def _coefficients(loss, margin, subject_weight, score, c_x, c_y):  # type: ignore[no-untyped-def]
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


@inlined
def _term(loss, margin, score):  # type: ignore[no-untyped-def]
    """Return slope and value of [γ + φ]₊, or of log(1 + exp φ)."""
    if loss != _LOGISTIC:
        gap = margin + score
        if gap <= 0:  # which NaN is not: it goes on as NaN
            return np.float32(0), np.float32(0)
        return np.float32(1), gap
    decay = np.exp(-abs(score))
    value = max(score, np.float32(0)) + np.log1p(decay)
    return (np.float32(1) if score > 0 else decay) / (np.float32(1) + decay), value


@inlined
def _dot(one, other):  # type: ignore[no-untyped-def]
    total = np.float32(0)
    for i in range(len(one)):
        total += one[i] * other[i]
    return total


@inlined
def _add(c, vector, into):  # type: ignore[no-untyped-def]
    for i in range(len(into)):
        into[i] += c * vector[i]


@inlined
def _add_by_relation(terms, parts, subject, y_sum, x_sum, object, into):  # type: ignore[no-untyped-def]
    """∂φ/∂r[ρ] = Σ_t w_t x[σ_t] y[ω_t] over the terms with ρ_t = ρ, of (s, Y) and of (X, o)."""
    width = len(subject) // parts
    for part in range(len(into) // width):
        for i in range(width):
            total = np.float32(0)
            for weight, rho, sigma, omega in terms:
                if rho == part:
                    from_y = subject[sigma * width + i] * y_sum[omega * width + i]
                    from_x = x_sum[sigma * width + i] * object[omega * width + i]
                    total += np.float32(weight) * (from_y + from_x)
            into[part * width + i] += total
