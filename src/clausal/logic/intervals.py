"""What a count of cases says of a share: Wilson's interval."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Z = 1.6449
"""One-sided 95 %: in one case of twenty the true share is below the bound."""


def wilson(successes: ArrayLike, trials: ArrayLike, z: float = Z) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a lower and an upper bound of the share of successes, 0 and 1 where there were no trials."""
    k, n = np.asarray(successes, np.float64), np.asarray(trials, np.float64)
    seen = np.maximum(n, 1)
    share = np.minimum(k / seen, 1)
    middle = share + z * z / (2 * seen)
    spread = z * np.sqrt(share * (1 - share) / seen + z * z / (4 * seen * seen))
    low, high = ((middle + sign * spread) / (1 + z * z / seen) for sign in (-1, 1))
    return np.where(n > 0, np.maximum(low, 0), 0.0), np.where(n > 0, np.minimum(high, 1), 1.0)


def wilson_lower(successes: ArrayLike, trials: ArrayLike, z: float = Z) -> NDArray[np.float64]:
    """Return the lower bound alone.

    >>> wilson_lower(10, 10).round(3).item()
    0.787
    """
    return wilson(successes, trials, z)[0]


def among(tests: int) -> float:
    """Return the z of a bound that holds with 95 % for many shares at once: many chances make some look good.

    >>> round(among(1), 2), round(among(10_000), 2)
    (1.64, 4.59)
    """
    return math.sqrt(Z * Z + 2 * math.log(max(tests, 1)))
