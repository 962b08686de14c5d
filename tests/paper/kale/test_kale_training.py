"""Rules raise the ranks of what follows from them, before training (KALE-Pre) and while it goes on (KALE-Joint)."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
import torch

from clausal.errors import InputError
from clausal.evaluation import evaluate
from clausal.graph import Graph, Names
from clausal.logic import parse_clauses
from clausal.logic.closure import close
from clausal_paper.kale import KaleSettings, train_kale

CLAUSES = parse_clauses("a(X, Y) => b(Y, X)")
TRANSE = KaleSettings(dim=16, margin=0.2, rule_weight=0.0, passes=60, batches=5, device="cpu")
PRE = replace(TRANSE, on="closure")
JOINT = replace(TRANSE, rule_weight=0.5)


def graph(entities=40, seed=0):
    """One in four of the facts of b that follow from those of a is in train; c and d are noise."""
    generator = np.random.default_rng(seed)
    pairs = np.unique(generator.integers(entities, size=(100, 2)), axis=0)
    generator.shuffle(pairs)

    def facts(relation, subject, object):
        return np.stack([subject, np.full(len(subject), relation), object], 1).astype(np.int32)

    implied = facts(1, pairs[:, 1], pairs[:, 0])
    noise = [facts(relation, *generator.integers(entities, size=(2, 60))) for relation in (2, 3)]
    train = np.concatenate([facts(0, *pairs.T), implied[:25], *noise])
    names = Names([f"e{number}" for number in range(entities)], "entity")
    relations = Names(list("abcd"), "relation")
    return Graph(names, relations, np.unique(train, axis=0), valid=implied[25:40], test=implied[40:])


def mrr(settings, **options):
    return evaluate(train_kale(graph(), CLAUSES, settings, **options), graph()).filtered["both"]["mrr"]


def test_both_ways_to_use_rules_raise_the_ranks_of_what_follows_from_them():
    without, before, jointly = (
        fmean(mrr(replace(settings, seed=seed), validate_every=0) for seed in (0, 1))
        for settings in (TRANSE, PRE, JOINT)
    )
    assert before > without + 0.1
    assert jointly > without + 0.04


def test_every_vector_ends_with_unit_norm():
    predictor = train_kale(graph(), CLAUSES, replace(JOINT, passes=3))
    for vectors in (predictor.encode_all(), predictor.relations):
        torch.testing.assert_close(vectors.norm(dim=1), torch.ones(len(vectors)))


def test_the_closure_is_computed_or_given():
    facts = close(graph(), CLAUSES).facts
    settings = replace(PRE, passes=3)
    computed = train_kale(graph(), CLAUSES, settings)
    given = train_kale(graph(), (), settings, closure=facts)
    assert torch.equal(computed.encode_all(), given.encode_all())


def test_the_same_seed_gives_the_same_model_and_another_another():
    some, same, other = (train_kale(graph(), CLAUSES, replace(JOINT, passes=3, seed=seed)) for seed in (1, 1, 2))
    assert torch.equal(some.encode_all(), same.encode_all())
    assert not torch.allclose(some.encode_all(), other.encode_all(), atol=0.1)


def test_the_model_that_was_best_on_valid_is_returned():
    reports = []
    settings = replace(TRANSE, passes=8, learning_rate=1.0)  # so large that the last pass is not the best
    predictor = train_kale(graph(), CLAUSES, settings, validate_every=2, on_pass=reports.append)
    validated = {report.number: report.valid for report in reports if report.valid is not None}
    assert list(validated) == [2, 4, 6, 8]
    assert max(validated.values()) > validated[8]
    assert evaluate(predictor, graph(), split="valid").filtered["both"]["mrr"] == max(validated.values())


def test_without_validation_the_last_model_is_returned():
    settings = replace(TRANSE, passes=4)
    unvalidated = replace(graph(), valid=np.empty((0, 3), np.int32))
    last = train_kale(graph(), CLAUSES, settings, validate_every=0)
    assert torch.equal(train_kale(unvalidated, CLAUSES, settings).encode_all(), last.encode_all())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dim": 0}, "dim: expected a number above 0, got 0"),
        ({"margin": float("nan")}, "margin: expected a number above 0, got nan"),
        ({"rule_weight": -1.0}, "rule_weight: expected 0 or more"),
        ({"on": "test"}, "on: 'test' is not known; expected train or closure"),
        ({"observed": "heads"}, "observed: 'heads' is not known; expected premises or all-but-one"),
    ],
)
def test_impossible_settings_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        KaleSettings(**changes)
