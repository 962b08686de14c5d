"""The queries of a closure: clauses of one shape share a query, and a round asks only what new facts can change."""

from clausal.logic import encode_rules, parse_clauses
from clausal.logic.sql import round_queries
from programs import graph_of

GRAPH = graph_of({(0, 0, 1)})


def groups_of(text, graph=GRAPH):
    return encode_rules(parse_clauses(text), graph.entities, graph.relations).groups


def asked(groups, fresh):
    return "".join(round_queries(groups, fresh))


def test_a_thousand_rules_are_no_more_queries_than_one():
    graph = graph_of({(0, 0, 1)}, relations=[f"r{n}" for n in range(1001)])
    groups = groups_of("\n".join(f"r{n}(X, Y) => r{n + 1}(X, Y)" for n in range(1000)), graph)
    assert len(round_queries(groups, None)) == 1


def test_a_round_asks_only_for_derivations_with_a_new_fact():
    groups = groups_of("p(X, Y), q(Y, Z) => r(X, Z)\nr(X, Y) => r(Y, X)")
    assert asked(groups, None).count("delta") == 0
    assert asked(groups, {0, 1}).count("delta") == 2
    assert asked(groups, {1}).count("delta AS f ON f.relation = s.r1") == 1
    assert asked(groups, {1}).count("delta") == 1
    assert round_queries(groups[:1], {2}) == []


def test_without_rules_nothing_is_asked():
    assert round_queries(groups_of("p(X, Y), q(X, Y) => false"), None) == []
