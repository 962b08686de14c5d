"""Pruning leaves out what better rules predict already and what is chance, and keeps what says something new."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_paths import edges_of, labelled, path_pairs

from clausal.graph import Graph
from clausal.logic.mining import mine, mine_paths
from clausal.logic.mining.cover import facts_of_path, not_covered
from clausal.logic.mining.walks import Walks

ids = st.integers(0, 5)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(ids, st.integers(0, 1), ids), max_size=24))
def test_the_facts_of_a_rule_are_those_it_predicts(facts):
    edges = edges_of(facts, 6, 2)
    walks, labels = Walks.of(edges), labelled(facts, 2)
    rules = mine_paths(edges, min_support=1)
    for head, body, support in zip(rules.heads.tolist(), rules.bodies, rules.support, strict=True):
        found = facts_of_path(walks, head, body)
        pairs = path_pairs(labels, tuple(b for b in body.tolist() if b >= 0))
        assert found.tolist() == sorted(6 * x + z for x, z in pairs if (x, head, z) in labels)
        assert len(found) == support


def test_rules_are_kept_for_a_tenth_of_new_facts():
    predicted = [np.arange(20), np.arange(1, 21), np.arange(2, 22), np.arange(18, 40)]
    heads = np.array([0, 0, 0, 0])
    assert not_covered([0, 1, 2, 3], heads, iter(predicted), 2) == [0, 2, 3]
    assert not_covered([0, 1, 2, 3], heads, iter(predicted), 10) == [0, 3]
    assert not_covered([0, 1], np.array([0, 1]), iter(predicted[:2]), 2) == [0, 1]


def test_a_longer_rule_that_repeats_a_shorter_one_is_left_out():
    facts = [(f"a{n}", "p", f"b{n}") for n in range(30)] + [(f"a{n}", "q", f"b{n}") for n in range(30)]
    facts += [(f"b{n}", "same", f"c{n}") for n in range(30)] + [(f"c{n}", "same", f"b{n}") for n in range(30)]
    facts += [(f"a{n}", "p", f"c{n}") for n in range(30)]
    graph = Graph.from_triples(facts)
    every = {str(rule) for rule in mine(graph)}
    pruned = {str(rule) for rule in mine(graph, prune=True)}
    assert pruned < every
    longer = "q(X, Y), same(Y, Z) => p(X, Z)"
    assert longer in every - pruned
    assert "same(X, Y) => same(Y, X)" in pruned


def test_a_rule_no_better_than_chance_is_left_out():
    """Where all pairs are facts, every rule holds and none says anything."""
    facts = [(f"a{n}", relation, f"b{m}") for n in range(8) for m in range(8) for relation in "pqr"]
    graph = Graph.from_triples(facts)
    assert mine(graph)
    assert mine(graph, prune=True) == []


def test_many_chances_are_still_chance():
    """Among 100,000 rules of random facts some hold more often than chance, by chance."""
    draw = np.random.default_rng(0)
    facts = [(f"e{s}", f"r{r}", f"e{o}") for s, r, o in draw.integers(0, [14, 30, 14], (1500, 3)).tolist()]
    graph = Graph.from_triples(facts)
    assert len(mine(graph, min_confidence=0.3)) > 5000
    assert len(mine(graph, min_confidence=0.3, prune=True)) < 5
