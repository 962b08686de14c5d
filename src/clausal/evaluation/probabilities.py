"""Scores as probabilities: Platt's sigmoid, a curve on top of it, and the threshold between true and false.

Platt scaling (Platt 1999) fits a sigmoid to labelled scores. Scores of a link predictor rarely follow one, as true
facts that nothing suggests score as low as false ones. So a rising curve from that probability to a better one is
fitted on top, by isotonic regression (Zadrozny & Elkan 2002).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_MOST_STEPS = 100
"""Most steps of Newton's method."""
_RIDGE = 1e-12
"""Added to the curvature for each fact, which is 0 where probabilities are."""
_LEAST_STEP = 1e-6
"""Steps that do not gain are halved down to this share."""
_CONVERGED = 1e-9
"""The fit is done where a step is smaller."""
_MOST_BINS = 200
_FACTS_PER_BIN = 10


def sigmoid(values: Values) -> Values:
    """Return 1 / (1 + e⁻ˣ), which never overflows in this form."""
    return 0.5 * (1 + np.tanh(0.5 * values))


def fit_platt(labels: NDArray[np.bool_], scores: Values) -> tuple[float, float]:
    """Return a and b of p = σ(a·score + b) that minimise the cross-entropy with Platt's targets, by Newton's method.

    The targets are (N₊ + 1) / (N₊ + 2) for the N₊ true facts and 1 / (N₋ + 2) for the N₋ false ones, in place of 1 and
    0, so that a score that separates the two perfectly does not make every probability 0 or 1.
    """
    true, false = int(labels.sum()), int((~labels).sum())
    targets = np.where(labels, (true + 1) / (true + 2), 1 / (false + 2))
    centre, spread = scores.mean(), scores.std() or 1.0
    features = np.stack([(scores - centre) / spread, np.ones(len(scores))], axis=1)

    def loss(weights: Values) -> float:
        values = features @ weights
        return float(np.sum(np.logaddexp(0, values) - targets * values))

    weights = np.array([0.0, np.log((true + 1) / (false + 1))])
    for _ in range(_MOST_STEPS):
        probabilities = sigmoid(features @ weights)
        gradient = features.T @ (probabilities - targets)
        curvature = (features * (probabilities * (1 - probabilities))[:, None]).T @ features
        step = np.linalg.solve(curvature + _RIDGE * len(scores) * np.eye(2), gradient)
        share = 1.0
        while share > _LEAST_STEP and loss(weights - share * step) > loss(weights):
            share /= 2
        weights = weights - share * step
        if np.abs(step).max() < _CONVERGED:
            break
    slope = weights[0] / spread
    return float(slope), float(weights[1] - slope * centre)


def best_threshold(labels: NDArray[np.bool_], scores: Values) -> float:
    """Return the score from which facts are best taken for true: the most labels are right; of several, the middle."""
    order = np.argsort(scores, kind="stable")
    values, truth = scores[order], labels[order]
    false_below = np.concatenate([[0], np.cumsum(~truth)])
    true_below = np.concatenate([[0], np.cumsum(truth)])
    right = false_below + truth.sum() - true_below  # where the facts from this place on are taken for true
    between = np.concatenate([[True], np.diff(values) > 0, [True]])
    best = np.flatnonzero(between & (right == right[between].max()))
    place = int(best[len(best) // 2])
    if place == 0:
        return float(values[0])
    return float(np.nextafter(values[-1], np.inf) if place == len(values) else values[place - 1 : place + 1].mean())


class Curve(NamedTuple):
    """Points (start, end) with straight lines between them; level before the first and after the last."""

    start: tuple[float, ...]
    end: tuple[float, ...]

    def __call__(self, probabilities: Values) -> Values:
        return np.interp(probabilities, self.start, self.end)


class _Pool(NamedTuple):
    """Facts of neighbouring probabilities."""

    facts: int
    true: int
    least: float
    most: float

    @property
    def share(self) -> float:
        """The share of true facts, smoothed as Platt's targets are, so that it is never 0 or 1."""
        return (self.true + 1) / (self.facts + 2)


def fit_curve(labels: NDArray[np.bool_], probabilities: Values) -> Curve:
    """Fit a curve to labelled facts: neighbouring bins are pooled until the share of true facts rises."""
    bins = max(1, min(_MOST_BINS, len(labels) // _FACTS_PER_BIN))
    edges = np.unique(np.quantile(probabilities, np.linspace(0, 1, bins + 1)))
    places = np.searchsorted(edges[1:-1], probabilities, side="right")
    pools: list[_Pool] = []
    for rows in (places == place for place in np.unique(places)):
        inside = probabilities[rows]
        pools.append(_Pool(len(inside), int(labels[rows].sum()), float(inside.min()), float(inside.max())))
        while len(pools) > 1 and pools[-1].share <= pools[-2].share:
            last, before = pools.pop(), pools.pop()
            pools.append(_Pool(before.facts + last.facts, before.true + last.true, before.least, last.most))
    points = sorted({(edge, pool.share) for pool in pools for edge in (pool.least, pool.most)})
    return Curve(*(tuple(column) for column in zip(*points, strict=True)))
