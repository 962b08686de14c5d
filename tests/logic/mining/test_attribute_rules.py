"""Rules with constants are exactly those of a naive count; as clauses they read back."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_paths import edges_of, naive_attributes

from clausal.graph import Graph
from clausal.logic import parse_clauses
from clausal.logic.mining import SOME, AttributeRules, mine, mine_attributes, print_mined

ids = st.integers(0, 5)
triples = st.lists(st.tuples(ids, st.integers(0, 1), ids), max_size=24)


def named(rules, attribute):
    """An attribute as label and entity."""
    return int(rules.attribute_label[attribute]), int(rules.attribute_entity[attribute])


def table(rules):
    """The support of each rule, by body and head."""
    return {
        (named(rules, body), named(rules, head)): int(support)
        for body, head, support in zip(rules.bodies, rules.heads, rules.support, strict=True)
    }


@settings(max_examples=40, deadline=None)
@given(triples, st.integers(1, 3))
def test_every_rule_with_constants_is_found_with_its_counts(facts, least):
    both, with_body = naive_attributes(facts, 2)
    rules = mine_attributes(edges_of(facts, 6, 2), min_support=least, min_confidence=0)
    assert table(rules) == {pair: count for pair, count in both.items() if count >= least}
    for attribute in range(len(rules.entities_with)):
        assert rules.entities_with[attribute] == with_body[named(rules, attribute)]


def test_rules_below_a_confidence_are_left_out():
    facts = [(n, 0, 20) for n in range(10)] + [(n, 1, 21) for n in range(6)]
    rules = mine_attributes(edges_of(facts, 22, 2), min_confidence=0.5)
    assert table(rules) == {((1, 21), (0, 20)): 6, ((1, SOME), (0, 20)): 6, ((0, SOME), (0, 20)): 10} | {
        ((1, SOME), (1, 21)): 6
    }
    assert np.allclose(np.sort(rules.confidence), [6 / 11, 6 / 11, 6 / 11, 10 / 15])


@settings(max_examples=40, deadline=None)
@given(triples)
def test_a_rule_says_more_if_it_is_surer_than_the_same_of_any_entity(facts):
    rules = mine_attributes(edges_of(facts, 6, 2), min_support=1, min_confidence=0)
    confidence = dict(zip(table(rules), rules.confidence.tolist(), strict=True))
    expected = [
        entity == SOME or own > confidence[(label, SOME), head] for ((label, entity), head), own in confidence.items()
    ]
    assert rules.says_more.tolist() == expected
    # Alone, rules of any entity count a tenth: nearly all others say more.
    assert all(alone or not beside for alone, beside in zip(rules.says_more_alone.tolist(), expected, strict=True))
    assert AttributeRules.none(edges_of(facts, 6, 2)).says_more.tolist() == []


def test_selected_rules_keep_their_bodies():
    facts = [(n, r, 20 + (n * r) % 3) for n in range(12) for r in range(2)]
    rules = mine_attributes(edges_of(facts, 24, 2), min_confidence=0)
    chosen = rules.support >= 5
    expected = {pair: support for pair, support in table(rules).items() if support >= 5}
    assert 0 < len(expected) < len(rules)
    assert table(rules.select(chosen)) == expected


def test_entities_with_most_attributes_are_left_out_where_it_would_take_too_long():
    facts = [(0, 0, n) for n in range(1, 30)] + [(n, 1, n + 10) for n in range(1, 10)]
    rules = mine_attributes(edges_of(facts, 40, 2), min_support=1, min_confidence=0, steps=500)
    assert len(rules)
    assert 0 not in rules.attribute_entity[rules.heads[rules.attribute_label[rules.heads] == 0]]


def test_a_time_limit_is_said():
    rules = mine_attributes(edges_of([(0, 0, 1), (0, 1, 1)], 2, 2), min_support=1, seconds=0)
    assert not rules.complete
    assert len(rules) == 0


def test_rules_with_constants_read_back_as_clauses():
    facts = [(f"city {n}", "in", "Old 'Land'") for n in range(12)] + [(f"city {n}", "speaks", "x") for n in range(11)]
    facts += [("maker", "made", f"city {n}") for n in range(11)]
    rules = mine(Graph.from_triples(facts), constants=True)
    texts = {str(rule): rule for rule in rules}
    rule = texts[r"speaks(X, 'x') => in(X, 'Old \'Land\'')"]
    assert (rule.support, rule.body_pairs, rule.head_facts) == (11, 11, 12)
    assert {"made(maker, X) => speaks(X, 'x')", "made(Y, X) => speaks(X, 'x')"} <= texts.keys()
    assert "speaks(X, Y) => speaks(X, 'x')" not in texts  # which a fact would predict from itself
    assert [c.formula for c in parse_clauses("\n".join(print_mined(rules)))] == [r.clause().formula for r in rules]


def test_pca_of_constants_looks_at_entities_with_some_fact_of_the_head():
    facts = [(f"a{n}", "p", "c") for n in range(8)] + [(f"a{n}", "q", "d") for n in range(4)] + [("a5", "q", "e")]
    rules = {str(r): r for r in mine(Graph.from_triples(facts), constants=True, min_support=2, min_confidence=0.3)}
    rule = rules["p(X, 'c') => q(X, 'd')"]
    assert (rule.support, rule.body_pairs, rule.pca_pairs, rule.functional) == (4, 8, 5, "subject")
