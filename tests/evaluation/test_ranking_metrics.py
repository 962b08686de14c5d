"""Metrics are what a hand calculation gives."""

from __future__ import annotations

import numpy as np
import pytest

from clausal.errors import InputError
from clausal.evaluation import Ranks, metrics
from clausal.evaluation.ranks import Counts

KEYS = ["mrr", "hits@1", "hits@3", "hits@5", "hits@10", "mean_rank", "median_rank", "count"]


def counts(greater, equal=None):
    return Counts(np.array(greater), np.array(equal or [0] * len(greater)))


def ranks_of(subject, object, ties="realistic"):
    sides = {"subject": subject, "object": object}
    return Ranks(filtered=sides, raw=sides, ties=ties)


def test_metrics_of_known_ranks():
    found = metrics(ranks_of(counts([0, 3]), counts([1, 9])))  # ranks 1, 4 and 2, 10
    assert list(found) == ["filtered", "raw"]
    for sides in found.values():
        assert list(sides) == ["both", "subject", "object"]
        assert all(list(side) == KEYS for side in sides.values())
    assert list(found["filtered"]["subject"].values()) == [0.625, 0.5, 0.5, 1.0, 1.0, 2.5, 2.5, 2]
    assert list(found["filtered"]["object"].values()) == [0.3, 0.0, 0.5, 0.5, 1.0, 6.0, 6.0, 2]
    both = [pytest.approx((1 + 1 / 4 + 1 / 2 + 1 / 10) / 4), 0.25, 0.5, 0.75, 1.0, 4.25, 3.0, 2]
    assert list(found["filtered"]["both"].values()) == both


@pytest.mark.parametrize(("ties", "hits"), [("optimistic", 1.0), ("realistic", 0.0), ("pessimistic", 0.0)])
def test_a_tied_first_place_is_a_hit_only_for_the_optimist(ties, hits):
    tied = counts([0], [1])  # ranks 1, 1.5 and 2
    assert metrics(ranks_of(tied, tied, ties))["raw"]["both"]["hits@1"] == hits


def test_no_ranks_give_an_error_rather_than_not_a_number():
    with pytest.raises(InputError, match="no facts"):
        metrics(ranks_of(counts([]), counts([])))
