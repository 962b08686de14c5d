"""Clauses of a user vote where they are paths or have constants, and the others are named."""

import numpy as np
import pytest
from by_hand import measured_path, strange_graph

from clausal.fusion import joined_rules, mine_rules, rules_of_clauses
from clausal.logic import parse_clauses
from clausal.logic.mining import Edges

GRAPH = strange_graph(2)
EDGES = Edges(GRAPH.train, 9, 3)


def rules_of(text):
    return rules_of_clauses(parse_clauses(text), GRAPH, EDGES)


@pytest.mark.parametrize(
    ("text", "head", "labels"),
    [
        ("r0(X, Y) => r1(X, Y)", 1, [0]),
        ("r0(X, Y) => r0(Y, X)", 0, [3]),
        ("r1(Y, Z), r0(Y, X) => r2(X, Z)", 2, [3, 1]),
        ("r0(B, C), r2(A, B), r1(D, C) => r0(A, D)", 0, [2, 0, 4]),
    ],
)
def test_paths_in_any_order_of_atoms_vote(text, head, labels):
    paths = rules_of(text).rules.paths
    assert paths.heads.tolist() == [head]
    assert [label for label in paths.bodies[0].tolist() if label >= 0] == labels
    support, pairs, *known = measured_path(GRAPH, head, labels)
    assert (paths.support[0], paths.pairs[0], paths.known[0].tolist()) == (support, pairs, known)


def test_rules_with_constants_vote():
    subject, relation, object = GRAPH.train[np.flatnonzero(GRAPH.train[:, 0] != GRAPH.train[:, 2])[0]].tolist()
    text = f'r{relation}(X, "e{object}") => r{relation}("e{subject}", X)\nr0(X, Y) => r{relation}(X, "e{object}")'
    found = rules_of(text)
    rules = found.rules.attributes
    assert len(rules) + len(found.left_out) == 2
    assert len(rules) >= 1
    for rule, body in enumerate(rules.bodies):
        assert 0 <= rules.support[rule] <= rules.entities_with[body]


@pytest.mark.parametrize(
    "text",
    [
        "r0(X, Y) => r0(X, Y)",
        "r0(X, Y), r1(X, Y) => r2(X, Y)",
        "r0(X, A), r0(A, B), r0(B, C), r0(C, Y) => r1(X, Y)",
        "r0(X, X) => r1(X, X)",
        "r0(X, Y) => false",
        "r0(X, Y) | r1(X, Y)",
        'r0("e0", "e1") => r1("e0", "e2")',
    ],
)
def test_other_clauses_are_left_out_with_a_reason(text):
    found = rules_of(text)
    assert len(found.rules) == 0
    assert len(found.left_out) == 1
    assert found.left_out[0].reason


def test_rules_of_two_sources_are_joined_once_each():
    mined = mine_rules(GRAPH)
    given = rules_of("r0(X, Y) => r1(X, Y)\nr0(X, Y) => r0(Y, X)").rules
    both = joined_rules([given, mined])
    rows = np.column_stack([both.paths.heads, both.paths.bodies]).tolist()
    assert len(rows) == len({tuple(row) for row in rows})
    assert {tuple(row) for row in np.column_stack([given.paths.heads, given.paths.bodies]).tolist()} <= {
        tuple(row) for row in rows
    }
    assert len(both.attributes) == len(mined.attributes)
