"""The plan: clauses of one shape share a query, and a round asks only what new facts can change."""

from clausal.logic import parse_clauses
from clausal.logic.closure import make_plan
from clausal.logic.closure.queries import round_query
from programs import graph_of

GRAPH = graph_of({(0, 0, 1)})


def plan(text):
    return make_plan(parse_clauses(text), GRAPH.entities, GRAPH.relations)


def test_clauses_of_one_shape_are_one_group_whatever_their_names():
    made = plan(
        "p(X, Y), q(Y, Z) => r(X, Z)\nq(A, B), q(B, C) => p(A, C)\np(X, anna) => q(X, bob)\np(X, cleo) => r(X, dora)"
    )
    assert [[rule.relations for rule in group.rules] for group in made.groups] == [
        [(0, 1, 2), (1, 1, 0)],
        [(0, 1), (0, 2)],
    ]
    assert [rule.constants for rule in made.groups[1].rules] == [(0, 1), (2, 3)]


def test_shapes_differ_by_order_of_variables_repetition_and_constants():
    made = plan(
        "p(X, Y) => q(X, Y)\np(X, Y) => q(Y, X)\np(X, X) => q(X, X)\np(X, bob) => q(X, bob)\np(X, bob) => q(X, cleo)"
    )
    assert len(made.groups) == 5


def test_equal_rules_are_applied_once():
    (group,) = plan("p(X, Y) => q(X, Y)\np(U, V) => q(U, V) <0.5>").groups
    assert len(group.rules) == 1


def test_a_thousand_rules_are_no_more_queries_than_one():
    relations = [f"r{n}" for n in range(1001)]
    graph = graph_of({(0, 0, 1)}, relations=relations)
    clauses = parse_clauses("\n".join(f"r{n}(X, Y) => r{n + 1}(X, Y)" for n in range(1000)))
    made = make_plan(clauses, graph.entities, graph.relations)
    assert round_query(made.groups, None).count("UNION ALL") == 0


def test_a_round_asks_only_for_derivations_with_a_new_fact():
    groups = plan("p(X, Y), q(Y, Z) => r(X, Z)\nr(X, Y) => r(Y, X)").groups
    assert round_query(groups, None).count("delta") == 0
    assert round_query(groups, {0, 1}).count("delta") == 2
    assert round_query(groups, {1}).count("delta AS atom1") == 1
    assert round_query(groups, {1}).count("delta") == 1
    assert round_query(groups[:1], {2}) is None


def test_a_plan_without_rules_asks_nothing():
    assert round_query(plan("p(X, Y), q(X, Y) => false").groups, None) is None
