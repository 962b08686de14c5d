"""The numbers of link prediction tables, read from ranks: MRR, Hits@k, mean and median rank."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError
from clausal.evaluation.ranks import Ranks

Metrics = dict[str, float]
SideMetrics = dict[str, Metrics]

HITS = (1, 3, 5, 10)
SIDES: tuple[Literal["both", "subject", "object"], ...] = ("both", "subject", "object")


def metrics(ranks: Ranks) -> dict[str, SideMetrics]:
    """Return ``{"filtered": {"both": {...}, "subject": {...}, "object": {...}}, "raw": {...}}``.

    Each side has ``mrr``, ``hits@1``, ``hits@3``, ``hits@5``, ``hits@10``, ``mean_rank``, ``median_rank`` and
    ``count``, the number of facts. "both" averages over subject and object ranks together.
    """
    if not len(ranks):
        raise InputError("there are no facts to evaluate")
    return {
        "filtered": {side: _summary(ranks.of("filtered", side), len(ranks)) for side in SIDES},
        "raw": {side: _summary(ranks.of("raw", side), len(ranks)) for side in SIDES},
    }


def _summary(ranks: NDArray[np.float64], facts: int) -> Metrics:
    return {
        "mrr": float(np.mean(1.0 / ranks)),
        **{f"hits@{k}": float(np.mean(ranks <= k)) for k in HITS},
        "mean_rank": float(np.mean(ranks)),
        "median_rank": float(np.median(ranks)),
        "count": facts,
    }
