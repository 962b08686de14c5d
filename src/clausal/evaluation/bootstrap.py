"""The paired bootstrap: how sure the difference of two models on the same facts is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SAMPLES = 1_000
_AT_ONCE = 1 << 22  # indices drawn at once


def bootstrap_means(
    differences: NDArray[np.floating[Any]], *, samples: int = SAMPLES, seed: int = 0
) -> NDArray[np.float64]:
    """Return the means of facts drawn with replacement, for both models alike [samples]; none without facts."""
    facts = len(differences)
    if not facts:
        return np.empty(0)
    draw = np.random.default_rng(seed)
    means: list[float] = []
    while len(means) < samples:
        rows = min(samples - len(means), max(1, _AT_ONCE // facts))
        means += differences[draw.integers(0, facts, (rows, facts))].mean(axis=1).tolist()
    return np.array(means)
