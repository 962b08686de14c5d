"""What nearly supports a fact that does not follow: with the missing facts it would follow, and not with fewer."""

import numpy as np
import pytest
from hypothesis import given, settings
from smallest_sizes import instances, smallest_sizes

from clausal.graph.query import Fact, Query, fact_ids
from clausal.logic import parse_clauses, shape_of
from clausal.logic.closure import close
from clausal.logic.proofs import NearSupport, Prover
from programs import facts, graph_of, programs

COMPOSED = parse_clauses("p(X, Y), q(Y, Z) => r(X, Z)")


def near(rows, clauses, fact):
    graph = graph_of(rows)
    return Prover(graph, clauses, close(graph, clauses, threads=1)).near(Fact(*fact))


def test_each_way_to_complete_a_body_is_named():
    found = near({(0, 0, 1), (2, 1, 3)}, COMPOSED, ("anna", "r", "dora"))
    assert found == [
        NearSupport(COMPOSED[0], (Fact("cleo", "q", "dora"),), (Query("anna", "p", "cleo"),)),
        NearSupport(COMPOSED[0], (Fact("anna", "p", "bob"),), (Query("bob", "q", "dora"),)),
    ]


def test_a_clause_of_one_atom_lacks_that_atom():
    clauses = parse_clauses("p(X, Y) => r(Y, X)")
    assert near(set(), clauses, ("anna", "r", "bob")) == [NearSupport(clauses[0], (), (Query("bob", "p", "anna"),))]


def test_a_name_that_may_be_any_is_left_open():
    clauses = parse_clauses("p(X, Z) => r(X, X)")
    (found,) = near(set(), clauses, ("anna", "r", "anna"))
    assert found.missing == (Query("anna", "p", None),)
    assert str(found.missing[0]) == "p(anna, ?)"


def test_a_body_of_which_nothing_holds_is_no_support():
    assert near({(1, 2, 2)}, COMPOSED, ("anna", "r", "dora")) == []


def test_a_head_with_another_constant_is_no_support():
    assert near(set(), parse_clauses("p(X, Y) => r(X, bob)"), ("anna", "r", "dora")) == []


def test_a_fact_does_not_support_itself():
    clauses = parse_clauses("p(X, Y), p(Y, Z) => p(X, Z)")
    for support in near({(0, 0, 0), (1, 0, 1)}, clauses, ("anna", "p", "bob")):
        assert Query("anna", "p", "bob") not in support.missing


def test_fewest_missing_come_first_then_most_that_hold():
    clauses = parse_clauses("p(X, Y), p(Y, Z), q(Z, U) => r(X, U)\np(X, Y) => r(Y, X)\np(X, Y), q(Y, Z) => r(X, Z)")
    found = near({(0, 0, 1)}, clauses, ("anna", "r", "dora"))
    counts = [(len(support.missing), -len(support.holds)) for support in found]
    assert counts == sorted(counts)
    assert {support.clause for support in found} == set(clauses)


@settings(max_examples=20, deadline=None)
@given(facts=facts, clauses=programs)
def test_one_missing_fact_is_found_where_trying_all_instances_finds_one(facts, clauses):
    graph = graph_of(facts)
    prover = Prover(graph, clauses, close(graph, clauses, threads=1))
    sizes = smallest_sizes(graph, clauses)
    lacking_one = {}
    for clause in clauses:
        for body, head in instances(graph, clause):
            missing = [number for number, premise in enumerate(body) if premise not in sizes]
            if len(missing) == 1 and head not in sizes and body[missing[0]] != head:
                lacking_one.setdefault(head, set()).add((clause, body[missing[0]]))
    for head, expected in list(lacking_one.items())[:6]:
        found = [support for support in prover.near(Fact(*head)) if len(support.missing) == 1]
        for clause, missing in expected:
            assert any(
                shape_of(support.clause) == shape_of(clause) and _matches(support.missing[0], missing)
                for support in found
            ), f"{head} by {clause} lacks {missing}"


@settings(max_examples=8, deadline=None)
@given(facts=facts, clauses=programs)
def test_with_the_missing_facts_it_follows(facts, clauses):
    graph = graph_of(facts)
    prover = Prover(graph, clauses, close(graph, clauses, threads=1))
    for fact in (Fact("anna", "p", "bob"), Fact("cleo", "q", "cleo")):
        if prover.prove(fact) is not None:
            continue
        for support in prover.near(fact, 2):
            if any(None in query for query in support.missing):
                continue
            added = np.array([fact_ids(Fact(*query), graph) for query in support.missing], dtype=np.int32)
            more = close(graph, clauses, facts=np.concatenate([graph.train, added]), threads=1)
            assert Prover(graph, clauses, more).prove(fact) is not None


def test_bodies_beyond_the_most_that_are_looked_at_are_left_out():
    entities = [f"e{number}" for number in range(3_000)]
    graph = graph_of({(0, 0, number) for number in range(1, 2_999)}, entities)
    found = Prover(graph, COMPOSED, close(graph, COMPOSED, threads=1)).near(Fact("e0", "r", "e2999"))
    assert len(found) == 1_000


@pytest.mark.parametrize("most", [0, 1])
def test_most_bounds_what_is_returned(most):
    graph = graph_of({(0, 0, 1), (2, 1, 3)})
    prover = Prover(graph, COMPOSED, close(graph, COMPOSED, threads=1))
    assert len(prover.near(Fact("anna", "r", "dora"), most)) == most


def _matches(query, fact):
    return all(asked is None or asked == name for asked, name in zip(query, fact, strict=True))
