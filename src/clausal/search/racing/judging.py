"""Comparing two models on the same valid facts: the difference of their MRR, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clausal.evaluation.bootstrap import bootstrap_means

Reciprocals = NDArray[np.float32]
"""The mean reciprocal rank of each valid fact, over its two sides [facts]."""

LEAST = 5e-4  # of MRR: less is no reason to leave the rule's settings


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
    return Comparison(float(differences.mean()), float(np.std(bootstrap_means(differences, seed=seed))))
