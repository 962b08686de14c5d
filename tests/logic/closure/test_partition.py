"""Test-I and Test-II: on small graphs, and as published for FB122 and WN18."""

from dataclasses import replace

import numpy as np
import pytest

from clausal.errors import InputError
from clausal.graph import dataset_clauses, load_graph
from clausal.logic import parse_clauses, read_clauses
from clausal.logic.closure import close, partition
from programs import graph_of


def as_set(facts):
    return set(map(tuple, facts.tolist()))


def test_test_facts_are_parted_by_the_closure_of_train_alone():
    graph = graph_of({(0, 0, 1), (1, 0, 2)})
    clauses = parse_clauses("p(X, Y), p(Y, Z) => p(X, Z)")
    # The second would follow if the first were known, and the third follows.
    graph = replace(graph, test=np.array([[2, 0, 3], [1, 0, 3], [0, 0, 2]], dtype=np.int32))
    parted = partition(graph, close(graph, clauses))
    assert {name: facts.tolist() for name, facts in parted.parts.items()} == {
        "test-I": [[2, 0, 3], [1, 0, 3]],
        "test-II": [[0, 0, 2]],
    }


def test_a_closure_that_was_stopped_is_refused():
    graph = graph_of({(0, 0, 1)})
    graph = replace(graph, test=graph.train)
    stopped = close(graph, parse_clauses("p(X, Y) => q(Y, X)"), rounds=1)
    with pytest.raises(InputError, match="stopped early"):
        partition(graph, stopped)


def test_a_graph_without_test_facts_is_refused():
    graph = graph_of({(0, 0, 1)})
    with pytest.raises(InputError, match="no test facts"):
        partition(graph, close(graph, []))


@pytest.mark.parametrize(
    ("name", "size", "parts"), [("fb122", 105_601, (5_057, 6_186)), ("wn18", 148_696, (1_394, 3_606))]
)
def test_published_parts_are_reproduced_fact_by_fact(clausal_data, name, size, parts):
    graph = load_graph(name)
    closure = close(graph, read_clauses(dataset_clauses(name)))
    assert len(closure.facts) == size
    parted = partition(graph, closure)
    assert tuple(len(facts) for facts in parted.parts.values()) == parts
    for part, facts in graph.parts.items():
        assert as_set(parted.parts[part]) == as_set(facts)
