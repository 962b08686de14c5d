"""How good probabilities are: log loss, Brier score, and how far from the share of true facts they lie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BINS = 15


class Bin(NamedTuple):
    """Facts of similar probability: how many there are, their mean probability, and the share that is true."""

    facts: int
    probability: float
    true: float


def reliability(labels: NDArray[np.bool_], probabilities: NDArray[np.float64], bins: int = BINS) -> list[Bin]:
    """Return the facts by probability, in bins of equal width from 0 to 1; bins without facts are left out."""
    places = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    counts, sums, true = (
        np.bincount(places, weights=weights, minlength=bins) for weights in (None, probabilities, labels)
    )
    return [Bin(int(n), float(p / n), float(t / n)) for n, p, t in zip(counts, sums, true, strict=True) if n]


def expected_calibration_error(labels: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> float:
    """Return the mean distance of probability and share of true facts over the bins (Guo et al. 2017)."""
    distances = [one.facts * abs(one.probability - one.true) for one in reliability(labels, probabilities)]
    return float(sum(distances) / len(labels))


def brier_score(labels: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> float:
    """Return the mean of (probability − label)²."""
    return float(np.mean((probabilities - labels) ** 2))


def log_loss(labels: NDArray[np.bool_], probabilities: NDArray[np.float64]) -> float:
    """Return the mean of −log of the probability given to the label."""
    given = np.where(labels, probabilities, 1 - probabilities)
    return float(-np.mean(np.log(np.maximum(given, np.finfo(np.float64).tiny))))
