"""The demo's examples: test facts that rank first only with clauses, one by each clause, with their proofs."""

from types import SimpleNamespace

import numpy as np
import pytest

from clausal.demo import Comparison, Measured, world
from clausal.logic import parse_clauses


@pytest.fixture(scope="module")
def graph_and_clauses():
    return world()


def compared(graph, clauses, before, after):
    """Return a comparison of models that are known only by how they rank the deducible test facts."""
    size = len(graph.parts["test-II"])

    def evaluation(ranks):
        array = np.full(size, 1.0)
        array[list(ranks)] = list(ranks.values())
        return SimpleNamespace(part_ranks={"test-II": SimpleNamespace(of=lambda *names: array)})

    run = SimpleNamespace(graph=graph, clauses=clauses)
    without, soft = (Measured(run, evaluation(ranks)) for ranks in (before, after))
    return Comparison(without, soft, hard=soft)


def test_only_facts_that_became_first_are_rescued_and_the_worst_comes_first(graph_and_clauses):
    graph, clauses = graph_and_clauses
    comparison = compared(graph, clauses, before={3: 7.0, 5: 40.0, 8: 90.0}, after={8: 2.0})
    rescued = comparison.rescued()
    assert [row.rank_without for row in rescued] == [40.0, 7.0]
    assert {row.rank_with for row in rescued} == {1.0}
    for row, index in zip(rescued, (5, 3), strict=True):
        names = [graph.entities[graph.parts["test-II"][index, 0]], graph.entities[graph.parts["test-II"][index, 2]]]
        assert [row.proof.fact.subject, row.proof.fact.object] == names
        assert row.proof.facts()


def test_facts_take_turns_by_their_clauses(graph_and_clauses):
    graph, clauses = graph_and_clauses
    before = {index: float(index + 2) for index in range(len(graph.parts["test-II"]))}
    rescued = compared(graph, clauses, before, after={}).rescued(4)
    assert len({tuple(row.proof.clauses()) for row in rescued}) == 4


def test_what_the_clauses_do_not_entail_is_not_shown(graph_and_clauses):
    graph, _ = graph_and_clauses
    none = parse_clauses("borders(X, Y), capital_of(X, Y) => located_in(X, Y)")
    assert compared(graph, none, before={3: 7.0}, after={}).rescued() == []
