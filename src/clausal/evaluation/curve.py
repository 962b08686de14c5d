"""A rising curve from a probability to a better one, by isotonic regression (Zadrozny & Elkan 2002).

Scores of a link predictor rarely follow a sigmoid: true facts that nothing suggests score as low as false ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_MOST_BINS = 200
_FACTS_PER_BIN = 10


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
