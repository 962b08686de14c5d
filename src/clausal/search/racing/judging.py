"""Comparing two models on the same valid facts: the difference of their MRR, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Reciprocals = NDArray[np.float32]
"""The mean reciprocal rank of each valid fact, over its two sides [facts]."""

SAMPLES = 1_000
LEAST = 5e-4  # of MRR: less is no reason to leave the rule's settings
_AT_ONCE = 1 << 22  # indices drawn at once


@dataclass(frozen=True)
class Comparison:
    """How much more MRR a model has than another, and the standard error of that by a paired bootstrap."""

    difference: float
    error: float

    def better(self, errors: float = 0.5) -> bool:
        """Say whether the difference is more than so many standard errors, and worth a change."""
        return self.difference > max(errors * self.error, LEAST)

    def __str__(self) -> str:
        return f"{self.difference:+.4f} ± {self.error:.4f}"


def compare(one: Reciprocals, other: Reciprocals, seed: int = 0) -> Comparison:
    """Compare two models by a bootstrap over the facts, which are drawn for both alike."""
    differences = one.astype(np.float64) - other.astype(np.float64)
    if not len(differences):
        return Comparison(0.0, 0.0)
    draw, facts = np.random.default_rng(seed), len(differences)
    means: list[float] = []
    while len(means) < SAMPLES:
        rows = min(SAMPLES - len(means), max(1, _AT_ONCE // facts))
        means += differences[draw.integers(0, facts, (rows, facts))].mean(axis=1).tolist()
    return Comparison(float(differences.mean()), float(np.std(means)))
