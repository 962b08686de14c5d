"""A run says of each clause how it is used: hard, in the loss, as a vote, or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

import clausal
from clausal.cli.clause_use import advice
from clausal.run.clause_uses import clause_uses

FACTS = [(f"e{number}", relation, f"e{(number + 1) % 40}") for number in range(40) for relation in ("p", "q")]
FACTS += [(f"e{number}", "r", f"e{(number + 2) % 40}") for number in range(40)]
CLAUSES = "p(X, Y) => q(X, Y) <hard>\nq(X, Y) => p(X, Y)\np(X, Y), q(Y, Z) => r(X, Z) <0>\np(X, X) => q(X, X)\n"


@pytest.fixture(scope="module")
def run():
    graph = clausal.Graph.from_triples(FACTS[:90], FACTS[90:])
    settings = clausal.Settings.from_mapping({"model": {"dim": 4}, "train": {"epochs": 1, "passes": 1}})
    return clausal.train(graph, clausal.parse_clauses(CLAUSES), settings)


def test_uses_of_each_clause(run):
    assert clause_uses(run) == ["hard", "loss", "not at all", "loss"]


def test_a_clause_that_votes_says_so_and_one_that_cannot_does_not(run):
    fused = run.fuse(run.clauses)
    voting = replace(fused, fused=replace(fused.fusion, basis="fitted"))
    assert clause_uses(voting) == ["hard, vote", "loss, vote", "vote", "loss"]
    without_gain = replace(fused, fused=replace(fused.fusion, basis="no gain"))
    assert clause_uses(without_gain) == clause_uses(run)
    assert any("--ranking fused" in line for line in advice(voting))
    assert not any("votes" in line for line in advice(without_gain))


def test_a_weight_of_zero_leaves_what_is_hard(run):
    settings = run.settings.model_copy(update={"clauses": run.settings.clauses.model_copy(update={"weight": 0.0})})
    assert clause_uses(replace(run, settings=settings)) == ["hard", "not at all", "not at all", "not at all"]
