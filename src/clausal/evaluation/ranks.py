"""Ranks of facts among all entities, and the metrics of link prediction that they give: MRR, Hits@k, mean and median.

Ranks are kept as counts of greater and of equal scores, so that every tie policy can be read from one scoring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from clausal.choices import Ties
from clausal.errors import InputError, did_you_mean

Setting = Literal["filtered", "raw"]
Side = Literal["subject", "object"]
Metrics = dict[str, float]
SideMetrics = dict[str, Metrics]

HITS = (1, 3, 5, 10)
SIDES: tuple[Literal["both", "subject", "object"], ...] = ("both", "subject", "object")


def check_ties(ties: str) -> None:
    """Refuse a tie policy that does not exist."""
    if ties not in get_args(Ties):
        raise InputError(
            f"unknown tie policy '{ties}'{did_you_mean(ties, get_args(Ties))}; "
            f"choose one of {', '.join(get_args(Ties))}"
        )


@dataclass(frozen=True, eq=False)
class Counts:
    """How many other entities score more than each fact (``greater``), and exactly as much (``equal``)."""

    greater: NDArray[np.int64]
    equal: NDArray[np.int64]

    def ranks(self, ties: Ties) -> NDArray[np.float64]:
        """Return ranks from 1: ties go behind the fact (optimistic), before it (pessimistic), or half."""
        share = {"optimistic": 0.0, "realistic": 0.5, "pessimistic": 1.0}[ties]
        return 1.0 + self.greater + share * self.equal

    def take(self, index: NDArray[np.integer]) -> Counts:
        """Return the counts of the facts at ``index``."""
        return Counts(self.greater[index], self.equal[index])


@dataclass(frozen=True, eq=False)
class Ranks:
    """The ranks of facts on both sides: ``filtered`` leaves other known facts out of the count."""

    filtered: Mapping[Side, Counts]
    raw: Mapping[Side, Counts]
    ties: Ties = "realistic"

    def __len__(self) -> int:
        return len(self.raw["object"].greater)

    def of(self, setting: Setting, side: Literal["both", "subject", "object"]) -> NDArray[np.float64]:
        """Return the ranks on one side in the order of the facts, or subject ranks and then object ranks."""
        counts = self.filtered if setting == "filtered" else self.raw
        if side != "both":
            return counts[side].ranks(self.ties)
        return np.concatenate([counts["subject"].ranks(self.ties), counts["object"].ranks(self.ties)])

    def take(self, index: NDArray[np.integer]) -> Ranks:
        """Return the ranks of the facts at ``index``."""
        filtered = {side: counts.take(index) for side, counts in self.filtered.items()}
        raw = {side: counts.take(index) for side, counts in self.raw.items()}
        return replace(self, filtered=filtered, raw=raw)

    def with_ties(self, ties: Ties) -> Ranks:
        """Return the same ranks under another tie policy; nothing is scored again."""
        check_ties(ties)
        return replace(self, ties=ties)


def joined_ranks(parts: Sequence[Ranks], places: Sequence[NDArray[np.int64]]) -> Ranks:
    """Join the ranks of parts of some facts, given the places of each part among them."""
    order = np.argsort(np.concatenate(places))

    def joined(sides: Sequence[Mapping[Side, Counts]]) -> dict[Side, Counts]:
        return {
            side: Counts(
                np.concatenate([counts[side].greater for counts in sides])[order],
                np.concatenate([counts[side].equal for counts in sides])[order],
            )
            for side in sides[0]
        }

    return Ranks(joined([one.filtered for one in parts]), joined([one.raw for one in parts]), parts[0].ties)


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
