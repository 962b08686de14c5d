"""Corruptions are false and likely; probabilities are right on facts that were not fitted on."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from score_tables import TablePredictor, random_facts
from sklearn.metrics import accuracy_score, brier_score_loss, f1_score, roc_auc_score
from sklearn.metrics import log_loss as sklearn_log_loss

from clausal.errors import InputError, RunError
from clausal.evaluation import Calibration, calibrate, calibration, classify, label_facts
from clausal.evaluation.classification import expected_calibration_error, reliability
from clausal.evaluation.labelled import corrupt
from clausal.graph import Graph, Names

ENTITIES, RELATIONS = 130, 3


def names():
    entities = Names([f"e{number:03}" for number in range(ENTITIES)], "entity")
    return entities, Names(["p", "q", "r"], "relation")


@pytest.fixture(scope="module")
def graph():
    """Subjects are entities 0 to 99, objects 30 to 129."""
    facts = random_facts(0, 12_000, RELATIONS, 100) + np.array([0, 0, 30], dtype=np.int32)
    facts = np.random.default_rng(1).permutation(facts)
    return Graph(*names(), facts[:1500], facts[1500:4500], facts[4500:8500])


@pytest.fixture(scope="module")
def predictor(graph):
    """Scores of known facts are higher on average; the relations have scales of their own."""
    noise = torch.randn(RELATIONS, ENTITIES, ENTITIES, generator=torch.Generator().manual_seed(2))
    subjects, relations, objects = torch.from_numpy(graph.known).long().unbind(1)
    noise[relations, subjects, objects] += 1.5
    return TablePredictor(noise * torch.tensor([1.0, 10.0, 0.1])[:, None, None])


def rows(facts):
    return set(map(tuple, facts.tolist()))


def test_corruptions_differ_in_one_place_and_no_split_has_them(graph):
    false = corrupt(graph.valid, graph, corruptions=3, seed=4)
    assert not rows(false) & rows(graph.known)
    originals = np.repeat(graph.valid, 3, axis=0)
    assert len(false) == len(originals)
    differing = false != originals
    assert (differing.sum(axis=1) == 1).all()
    assert not differing[:, 1].any()
    assert 0.45 < differing[:, 0].mean() < 0.55


def test_corruptions_stand_where_train_has_them(graph):
    false = corrupt(graph.valid, graph, seed=4)
    for place in (0, 2):
        changed = false[:, place] != graph.valid[:, place]
        assert set(map(tuple, false[changed][:, [1, place]].tolist())) <= set(
            map(tuple, graph.train[:, [1, place]].tolist())
        )


def test_any_entity_is_drawn_where_train_has_no_other():
    train = np.array([[0, 0, 1], [2, 1, 3]], dtype=np.int32)
    valid = np.array([[0, 0, 1], [4, 2, 5]], dtype=np.int32)  # train has relation 2 nowhere, 0 only here
    graph = Graph(*names(), train, valid)
    assert len(corrupt(valid, graph, corruptions=20)) == 40


def test_facts_without_a_false_corruption_have_none():
    entities = Names(["a", "b"], "entity")
    every = np.array([[s, 0, o] for s in range(2) for o in range(2)], dtype=np.int32)
    graph = Graph(entities, Names(["p"], "relation"), every, every)
    assert len(corrupt(every, graph)) == 0


def test_the_same_seed_draws_the_same_corruptions(graph):
    first, again, other = (corrupt(graph.valid, graph, seed=seed) for seed in (4, 4, 5))
    assert (first == again).all()
    assert (first != other).any()


def test_true_facts_come_first_with_their_labels(graph):
    facts, labels = label_facts(graph.test, graph, corruptions=2)
    assert (facts[: len(graph.test)] == graph.test).all()
    assert labels.tolist() == [True] * len(graph.test) + [False] * 2 * len(graph.test)


def test_probabilities_are_right_on_facts_that_were_not_fitted_on(graph, predictor):
    found = calibrate(predictor, graph)
    facts, labels = label_facts(graph.test, graph, corruptions=1, seed=9)
    result = classify(predictor, facts, labels, graph.relations, found)
    assert result.measures["ece"] < 0.03
    for one in result.reliability:
        assert abs(one.probability - one.true) < 5 * np.sqrt(0.25 / one.facts)
    # One fit for all three scales cannot do it.
    alone = classify(predictor, facts, labels, graph.relations, Calibration(found.overall, {}))
    assert alone.measures["log_loss"] > result.measures["log_loss"] + 0.02


def test_scores_that_follow_no_sigmoid_are_read_rightly_too(graph):
    """Half of the true facts score as false ones do, anywhere below 0: a third of the facts there is true, and no less
    where the score is lower."""
    table = -30 * torch.rand(RELATIONS, ENTITIES, ENTITIES, generator=torch.Generator().manual_seed(3))
    subjects, relations, objects = torch.from_numpy(graph.known[::2]).long().unbind(1)
    table[relations, subjects, objects] = 5.0
    predictor = TablePredictor(table)
    found = calibrate(predictor, graph)
    facts, labels = label_facts(graph.test, graph, seed=9)
    curved = classify(predictor, facts, labels, graph.relations, found).measures
    overall, *fits = (fit._replace(curve=None) for fit in (found.overall, *found.relations.values()))
    sigmoids = Calibration(overall, dict(zip(found.relations, fits, strict=True)))
    platt = classify(predictor, facts, labels, graph.relations, sigmoids).measures
    assert curved["ece"] < 0.04 < platt["ece"]
    assert curved["log_loss"] < platt["log_loss"]


def test_a_fit_of_its_own_needs_enough_valid_facts(graph, predictor, monkeypatch):
    counts = np.bincount(graph.valid[:, 1])
    largest = set(np.flatnonzero(counts == counts.max()).tolist())
    monkeypatch.setattr(calibration, "ENOUGH_FOR_CURVE", int(counts.max()))
    found = calibrate(predictor, graph)
    assert {relation for relation, fit in found.relations.items() if fit.curve is not None} == largest
    assert set(found.relations) == {0, 1, 2}
    monkeypatch.setattr(calibration, "ENOUGH_FOR_SIGMOID", int(counts.max()))
    assert set(calibrate(predictor, graph).relations) == largest
    few = Graph(*names(), graph.train, graph.valid[:19])
    assert calibrate(predictor, few) is None


def test_a_relation_without_a_curve_has_that_of_all(graph, predictor):
    found = calibrate(predictor, graph)
    fit = found.relations[1]
    sigmoids = Calibration(found.overall, {1: fit._replace(curve=None)})
    p = sigmoids.probabilities(np.array([1.0]), np.array([1]))
    assert p == pytest.approx(found.overall.curve(1 / (1 + np.exp(-np.array([fit.slope + fit.intercept])))))
    assert sigmoids.probabilities(np.array([1.0]), np.array([0])) != pytest.approx(p)


def test_measures_are_those_of_scikit_learn(graph, predictor):
    found = calibrate(predictor, graph)
    facts, labels = label_facts(graph.test, graph, seed=9)
    result = classify(predictor, facts, labels, graph.relations, found)
    for relation, name in enumerate(graph.relations):
        of_relation = facts[:, 1] == relation
        fit = found.relations[relation]
        scores = np.array([float(predictor.table[r, s, o]) for s, r, o in facts[of_relation].tolist()])
        p, taken = 1 / (1 + np.exp(-fit.slope * scores - fit.intercept)), scores >= fit.threshold
        p = np.interp(p, fit.curve.start, fit.curve.end)
        truth = labels[of_relation]
        assert result.relations[name] == {
            "auc_pr": pytest.approx(result.relations[name]["auc_pr"]),
            "auc_roc": pytest.approx(roc_auc_score(truth, scores)),
            "accuracy": pytest.approx(accuracy_score(truth, taken)),
            "f1": pytest.approx(f1_score(truth, taken)),
            "log_loss": pytest.approx(sklearn_log_loss(truth, p)),
            "brier": pytest.approx(brier_score_loss(truth, p)),
            "ece": pytest.approx(expected_calibration_error(truth, p)),
            "count": len(truth),
            "positives": int(truth.sum()),
        }
    assert result.measures["accuracy"] == pytest.approx(
        np.mean([result.relations[graph.relations[r]]["accuracy"] for r in facts[:, 1]])
    )


def test_the_calibration_error_is_that_of_a_count_by_hand():
    labels = np.array([True, False, True, True, False])
    probabilities = np.array([0.01, 0.02, 0.97, 1.0, 0.5])
    assert [one.facts for one in reliability(labels, probabilities)] == [2, 1, 2]
    expected = (2 * abs(0.015 - 0.5) + 0.5 + 2 * abs(0.985 - 1)) / 5
    assert expected_calibration_error(labels, probabilities) == pytest.approx(expected)


def test_without_a_calibration_there_are_areas_only(graph, predictor):
    result = classify(predictor, *label_facts(graph.test, graph), graph.relations)
    assert set(result.measures) == {"auc_pr", "auc_roc", "count", "positives"}
    assert result.to_dict()["reliability"] == []
    one = classify(predictor, graph.test, np.arange(len(graph.test)) % 2 == 0, graph.relations)
    assert one.relations["p"]["auc_pr"] is not None
    true = Graph(*names(), graph.train).train[graph.train[:, 1] == 0]
    mixed = np.concatenate([true, graph.test[graph.test[:, 1] == 1]])
    half = classify(predictor, mixed, mixed[:, 1] == 0, graph.relations)
    assert half.relations["p"]["auc_pr"] is None


def test_it_survives_a_file(graph, predictor):
    found = calibrate(predictor, graph)
    values = json.loads(json.dumps(found.to_dict(graph.relations), allow_nan=False))
    again = Calibration.from_dict(values, graph.relations)
    assert (again.overall, again.relations) == (found.overall, found.relations)


def test_scores_that_are_no_finite_numbers(graph, predictor):
    assert calibrate(TablePredictor(predictor.table.sign() * float("inf")), graph) is None
    with pytest.raises(RunError, match="not numbers"):
        calibrate(TablePredictor(predictor.table * float("nan")), graph)
    with pytest.raises(InputError, match="one label per score"):
        _ = classify(predictor, graph.test, [1, 0], graph.relations).measures


def test_relations_named_together_have_one_fit(graph, predictor):
    alone, together = calibrate(predictor, graph), calibrate(predictor, graph, together=[{1, 2}])
    assert alone.relations[1] != alone.relations[2]
    assert together.relations[1] == together.relations[2]
    assert together.relations[0] == alone.relations[0]
    scores = np.linspace(-20, 20, 200)
    lower, higher = (together.probabilities(some, np.full(200, one)) for some, one in ((scores, 1), (scores + 0.1, 2)))
    assert (higher >= lower).all()
