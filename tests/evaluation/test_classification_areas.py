"""Areas under curves equal scikit-learn's, ties included."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from score_tables import random_facts, random_table
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score

from clausal.errors import InputError, RunError
from clausal.evaluation import auc_pr, auc_roc, evaluate_labelled, protocol


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.one_of(st.integers(0, 3), st.floats(-1e6, 1e6))),
        min_size=2,
        max_size=60,
    )
)
def test_areas_equal_those_of_scikit_learn(rows):
    labels, scores = [label for label, _ in rows], [float(score) for _, score in rows]
    assume(0 < sum(labels) < len(labels))
    assert auc_pr(labels, scores) == pytest.approx(average_precision_score(labels, scores), abs=1e-12)
    assert auc_roc(labels, scores) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


def test_a_predictor_that_cannot_decide_has_the_area_of_chance():
    labels = [1, 0, 0, 0]
    assert auc_pr(labels, [2.0] * 4) == 0.25
    assert auc_roc(labels, [2.0] * 4) == 0.5


@pytest.mark.parametrize("at_once", [1, 7, 10_000])
def test_labelled_facts_are_scored_by_the_predictor(monkeypatch, at_once):
    monkeypatch.setattr(protocol, "_FACTS_AT_ONCE", at_once)
    predictor = random_table(0, relations=2, entities=9)
    facts = random_facts(1, 80, relations=2, entities=9)
    labels = np.random.default_rng(0).integers(2, size=len(facts))
    scores = [float(predictor.table[r, s, o]) for s, r, o in facts.tolist()]
    precision, recall, _ = precision_recall_curve(labels, scores)
    assert evaluate_labelled(predictor, facts, labels) == {
        "auc_pr": pytest.approx(average_precision_score(labels, scores)),
        "auc_pr_trapezoid": pytest.approx(auc(recall, precision)),
        "auc_roc": pytest.approx(roc_auc_score(labels, scores)),
        "count": len(facts),
        "positives": int(labels.sum()),
    }


@pytest.mark.parametrize("area", [auc_pr, auc_roc])
@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([1, 1], [0.0, 1.0], "all 2 labelled facts are true"),
        ([0, 0, 0], [0.0, 1.0, 2.0], "all 3 labelled facts are false"),
        ([], [], "no labelled facts"),
        ([0, 1], [0.0], "2 labels and 1 scores"),
        ([0, 2], [0.0, 1.0], "labels must be 0"),
        ([0, 1], [0.0, float("nan")], "found NaN"),
    ],
)
def test_input_without_an_area_is_refused(area, labels, scores, message):
    with pytest.raises(InputError, match=message):
        area(labels, scores)


def test_a_diverged_predictor_is_a_failure_of_the_run():
    predictor = random_table(0, relations=1, entities=3)
    predictor.table = torch.full_like(predictor.table, float("nan"))
    with pytest.raises(RunError, match="not numbers"):
        evaluate_labelled(predictor, np.array([[0, 0, 1], [1, 0, 2]], dtype=np.int32), [0, 1])


def test_no_labelled_facts_are_bad_input():
    with pytest.raises(InputError, match="no labelled facts"):
        evaluate_labelled(random_table(0, 1, 3), np.empty((0, 3), dtype=np.int32), [])
