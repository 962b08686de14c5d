"""The certified inconsistency in the log: bounds on what any adversary could find, where there are bounds."""

import pytest
import torch

from clausal.config import Settings
from clausal.graph import Graph
from clausal.logic import parse_clauses
from clausal.observer import Calling
from clausal.training import prepare

FACTS = [("a", "p", "b"), ("b", "p", "c"), ("c", "q", "a"), ("a", "q", "c"), ("d", "p", "a"), ("b", "q", "d")]
CLAUSES = "p(X, Y) => q(X, Y) <0.5>\nq(X, Y) => q(Y, X)"


def trained(rules=CLAUSES, valid=True, **sections):
    """Train for four epochs, validating every second, and return the training and its log."""
    graph = Graph.from_triples(FACTS, valid=[("a", "p", "c")] if valid else None)
    defaults = {
        "model": {"scorer": "complex", "dim": 8},
        "train": {"epochs": 4, "passes": 2, "device": "cpu"},
        "evaluate": {"every": 2, "patience": 0},
        "clauses": {"sets": 1},
    }
    values = {name: defaults.get(name, {}) | sections.get(name, {}) for name in {*defaults, *sections}}
    training, log = prepare(graph, parse_clauses(rules), Settings.from_mapping(values)), []
    training.run(Calling(epoch=log.append))
    return training, log


def test_it_is_logged_wherever_the_model_is_validated():
    _, log = trained()
    assert ["certified" in record for record in log] == ["valid" in record for record in log] == [False, True] * 2
    _, log = trained(valid=False)
    assert ["certified" in record for record in log] == [False, True] * 2
    _, log = trained(evaluate={"every": 0})
    assert not any("certified" in record for record in log)


def test_it_is_the_weighted_sum_of_the_closed_forms():
    training, log = trained(evaluate={"every": 4, "patience": 0}, valid=False)
    p, q = training.predictor.relations.detach()
    real, imaginary = (p - q).chunk(2)
    implication = (real.clamp_min(0) + torch.maximum(real, imaginary.abs())).sum()
    symmetry = 2 * q.chunk(2)[1].abs().sum()
    record = log[-1]["certified"]
    assert record["inconsistency"] == pytest.approx((0.5 * implication + symmetry).item(), rel=1e-5)
    assert record["clauses"] == 2
    assert record["holding"] == sum(int(value <= 0.01) for value in (implication, symmetry))


def test_no_adversary_finds_more():
    training, log = trained("p(X, Y), q(Y, Z) => p(X, Z)", valid=False)
    found = max(
        training.adversary.inconsistency(
            training.predictor, training.objective.groups, training.find_adversarial_set()
        ).item()
        for _ in range(5)
    )
    certified = training.certify(training.predictor)["certified"]
    assert certified == log[-1]["certified"]
    assert 0 < found <= certified["inconsistency"] + 1e-6


def test_clauses_that_are_obeyed_are_counted_as_holding():
    training, _ = trained()
    with torch.no_grad():
        training.predictor.relations.zero_()
    record = training.certify(training.predictor)["certified"]
    assert record == {"inconsistency": 0.0, "clauses": 2, "holding": 2}


def test_it_changes_nothing_that_is_trained():
    with_bounds, _ = trained()
    training = prepare(Graph.from_triples(FACTS, valid=[("a", "p", "c")]), parse_clauses(CLAUSES), with_bounds.settings)
    training.certify = None
    assert torch.equal(training.run().relations, with_bounds.predictor.relations)


@pytest.mark.parametrize(
    "sections",
    [
        {"clauses": {"semantics": "product"}},
        {"clauses": {"weight": 0}},
        {"clauses": {"adversary": "none"}},
        {"model": {"scorer": "er-mlp", "dim": 4}},
        {"model": {"scorer": "distmult", "dim": 4, "domain": "none"}, "clauses": {"region": "domain"}},
    ],
)
def test_there_is_none_without_bounds_or_clauses(sections):
    _, log = trained(**sections)
    assert not any("certified" in record for record in log)
