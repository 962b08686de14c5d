"""A search for vectors that break a one-atom clause of ComplEx; it knows nothing of orders: numpy, double precision.

From each start, X and Y take turns: with the other one fixed, the violation is linear in a vector, so that its best
choice is known: the corner of a box where the gradient points, or the gradient itself, of norm 1, on the sphere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.logic import Clause, one_atom_rule, shape_of
from clausal.model import LinkPredictor

Vectors = NDArray[np.complex128]
_TURNS = 20


def worst_violation(
    predictor: LinkPredictor, clause: Clause, relations: list[str], starts: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """Return the largest body − head that was found over the domain, and the rounding of its own arithmetic.

    The clause reads b(X, Y) ⇒ h(X, Y) or b(X, Y) ⇒ h(Y, X). Of a reciprocal model, its fact score is attacked and the
    answers in both directions. Where numbers have no bound, they are searched from 0, or −1, to 1: a violation there
    grows with the vectors.
    """
    generator = np.random.default_rng(seed)
    lowest = None if predictor.domain.name == "sphere" else _lowest(predictor)
    worst, rounding = -np.inf, 0.0
    for lower, upper in _readings(predictor, clause, relations):
        counts = lower != upper  # the others add nothing to a difference of scores
        difference, low = (lower - upper)[counts], None if lowest is None else lowest[counts]
        if not len(difference):
            worst = max(worst, 0.0)
            continue
        x = _start(generator, starts, len(difference), low)
        for _ in range(_TURNS):
            y = _best(x * difference, low)
            x = _best(y * difference.conj(), low)
            worst = max(worst, float((x * difference * y.conj()).real.sum(1).max()))
        rounding = max(rounding, float(np.finfo(np.float64).eps * (np.abs(lower).sum() + np.abs(upper).sum())))
    return worst, rounding


def _readings(predictor: LinkPredictor, clause: Clause, relations: list[str]) -> list[tuple[Vectors, Vectors]]:
    """Return pairs b, h with scores Re Σ bᵢ xᵢ conj(yᵢ) of the body and Re Σ hᵢ xᵢ conj(yᵢ) of the head."""
    body, head, turned = _parts(clause)
    table = predictor.relations.detach().cpu().numpy().astype(np.float64)
    real, imaginary = np.split(table, 2, 1)
    vectors = real + 1j * imaginary

    def at(name: str, inverse: bool = False) -> Vectors:
        return vectors[relations.index(name) + len(relations) * inverse]

    if len(vectors) == len(relations):
        return [(at(body), at(head).conj() if turned else at(head))]
    facts = [(at(name) + at(name, inverse=True).conj()) / 2 for name in (body, head)]
    return [
        (facts[0], facts[1].conj() if turned else facts[1]),
        (at(body, inverse=turned), at(head)),
        (at(body, inverse=not turned), at(head, inverse=True)),
    ]


def _parts(clause: Clause) -> tuple[str, str, bool]:
    shape, (body, *heads), _ = shape_of(clause)
    rule = one_atom_rule(shape)
    assert rule is not None, clause
    return body, heads[-1] if heads else body, rule == "inverse"


def _lowest(predictor: LinkPredictor) -> Vectors:
    """Return the lowest real and imaginary parts of vectors: 0 where they are never negative, else −1."""
    real, imaginary = np.split(predictor.domain.never_negative(predictor.scorer.dim).numpy() - 1.0, 2)
    return np.asarray(real + 1j * imaginary)


def _start(generator: np.random.Generator, starts: int, dim: int, lowest: Vectors | None) -> Vectors:
    shape = (2, starts, dim)
    if lowest is None:
        real, imaginary = generator.normal(size=shape)
        return _best(real + 1j * imaginary, lowest)
    real, imaginary = generator.random(shape) * (generator.random(shape) < generator.random((1, starts, 1)))
    return np.asarray(
        real * _spread(lowest.real, generator, real) + 1j * imaginary * _spread(lowest.imag, generator, real)
    )


def _spread(lowest: NDArray[np.float64], generator: np.random.Generator, like: NDArray[np.float64]) -> Any:
    """Return signs: 1 where numbers are never negative, else one of both."""
    return np.where((lowest < 0) & (generator.random(like.shape) < 0.5), -1.0, 1.0)


def _best(gradient: Vectors, lowest: Vectors | None) -> Vectors:
    if lowest is None:
        norms = np.linalg.norm(gradient, axis=1, keepdims=True)
        return np.asarray(gradient / np.where(norms > 0, norms, 1))
    return np.where(gradient.real > 0, 1.0, lowest.real) + 1j * np.where(gradient.imag > 0, 1.0, lowest.imag)
