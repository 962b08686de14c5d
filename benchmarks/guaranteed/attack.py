"""A search for vectors that break a one-atom clause of ComplEx; it knows nothing of orders: numpy, double precision.

From each start, X and Y take turns: with the other one fixed, the violation is linear in a vector, so that its best
choice is known: the ones of the cube where the gradient is positive, or the gradient itself, of norm 1, on the
sphere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clausal.logic import Clause, one_atom_rule, shape_of
from clausal.model import LinkPredictor

Vectors = NDArray[np.float64]
_TURNS = 20


def worst_violation(
    predictor: LinkPredictor, clause: Clause, relations: list[str], starts: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """Return the largest body − head that was found over the domain, and the rounding of its own arithmetic.

    The clause reads b(X, Y) ⇒ h(X, Y) or b(X, Y) ⇒ h(Y, X).
    """
    body, head, turned = _parts(clause)
    table = predictor.relations.detach().cpu().numpy().astype(np.float64)
    lower, upper = (_matrix(table[relations.index(name)]) for name in (body, head))
    difference = lower - (upper.T if turned else upper)
    generator = np.random.default_rng(seed)
    x = _start(generator, starts, len(difference), predictor.domain.name)
    found = np.full(starts, -np.inf)
    for _ in range(_TURNS):
        y = _best(x @ difference, predictor.domain.name)
        x = _best(y @ difference.T, predictor.domain.name)
        found = np.maximum(found, ((x @ difference) * y).sum(1))
    sizes = np.abs(lower).sum() + np.abs(upper).sum()
    return float(found.max()), float(np.finfo(np.float64).eps * sizes)


def _parts(clause: Clause) -> tuple[str, str, bool]:
    shape, (body, *heads), _ = shape_of(clause)
    rule = one_atom_rule(shape)
    assert rule is not None, clause
    return body, heads[-1] if heads else body, rule == "inverse"


def _matrix(relation: Vectors) -> Vectors:
    """Return M with xᵀ M y = Re Σ rᵢ xᵢ conj(yᵢ), where vectors hold real parts first."""
    real, imaginary = (np.diag(part) for part in np.split(relation, 2))
    return np.block([[real, imaginary], [-imaginary, real]])


def _start(generator: np.random.Generator, starts: int, dim: int, domain: str) -> Vectors:
    if domain == "sphere":
        drawn = generator.normal(size=(starts, dim))
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return generator.random((starts, dim)) * (generator.random((starts, dim)) < generator.random((starts, 1)))


def _best(gradient: Vectors, domain: str) -> Vectors:
    if domain == "sphere":
        norms = np.linalg.norm(gradient, axis=1, keepdims=True)
        return gradient / np.where(norms > 0, norms, 1)
    return (gradient > 0).astype(np.float64)
