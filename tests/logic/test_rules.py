"""Rules over ids say what their clauses say, and rules of one shape differ only in ids."""

import pytest

from clausal.errors import InputError
from clausal.logic import (
    Atom,
    Clause,
    Constant,
    Falsum,
    Slot,
    Variable,
    encode_rule,
    encode_rules,
    implication,
    parse_clause,
    parse_clauses,
    shape_of,
)
from programs import graph_of

GRAPH = graph_of({(0, 0, 1)})

HORN = [
    "p(X, Y) => q(X, Y)",
    "p(X, Y), q(Y, Z) => r(Z, X)",
    "p(X, X), p(X, anna), q(bob, Y) => r(Y, anna)",
    "p(X, Y), q(X, Y) => false",
    "p(anna, bob), q(anna, anna) => false",
    "r(X, anna)",
    "r(bob, bob)",
]


def encode(text):
    return encode_rule(parse_clause(text), GRAPH.entities, GRAPH.relations)


def rule_set(text):
    return encode_rules(parse_clauses(text), GRAPH.entities, GRAPH.relations)


def decode(rule):
    """Write a rule as a clause again, with names for its ids and new names for its variables."""

    def term(slot):
        if slot.kind == "constant":
            return Constant(GRAPH.entities[rule.constants[slot.index]])
        return Variable(f"V{slot.index}")

    atoms = [Atom(GRAPH.relations[rule.relations[a.index]], *map(term, a.slots)) for a in rule.shape.atoms]
    body = len(rule.shape.body)
    return Clause(implication(atoms[:body], atoms[body] if body < len(atoms) else Falsum()))


@pytest.mark.parametrize("text", HORN)
def test_a_rule_decodes_to_its_clause_but_for_the_names_of_variables(text):
    assert shape_of(decode(encode(text))) == shape_of(parse_clause(text))
    assert encode(text).clause == parse_clause(text)


@pytest.mark.parametrize("text", HORN)
def test_slots_are_numbered_by_first_occurrence_body_first(text):
    slots = [slot for atom in encode(text).shape.atoms for slot in atom.slots]
    for kind in ("variable", "constant"):
        numbers = list(dict.fromkeys(slot.index for slot in slots if slot.kind == kind))
        assert numbers == list(range(len(numbers)))
    assert len({slot for slot in slots if slot.kind == "constant"}) == len(encode(text).constants)


def test_ids_stand_in_the_order_of_atoms_and_of_constants():
    rule = encode("p(X, X), q(cleo, X) => r(X, anna)")
    assert rule.relations == (0, 1, 2)
    assert rule.constants == (GRAPH.entities.id("cleo"), GRAPH.entities.id("anna"))
    assert [atom.index for atom in rule.shape.atoms] == [0, 1, 2]


@pytest.mark.parametrize("text", ["p(X, Y) | q(X, Y)", "p(X, Y) <=> q(X, Y)", "~p(X, Y)", "p(X, Y) => ~q(X, Y)"])
def test_what_is_no_horn_clause_is_no_rule(text):
    assert encode(text) is None


def test_a_head_matches_the_facts_that_it_can_be():
    rule = encode("p(X, Y) => q(X, anna)")
    anna, bob, cleo = map(GRAPH.entities.id, ("anna", "bob", "cleo"))
    assert rule.match_head(bob, anna) == {Slot("constant", 0): anna, Slot("variable", 0): bob}
    assert rule.match_head(bob, cleo) is None
    assert encode("p(X, Y) => q(X, X)").match_head(bob, cleo) is None


def test_clauses_of_one_shape_are_one_group_whatever_their_names():
    groups = rule_set(
        "p(X, Y), q(Y, Z) => r(X, Z)\nq(A, B), q(B, C) => p(A, C)\np(X, anna) => q(X, bob)\np(X, cleo) => r(X, dora)"
    ).groups
    assert [[rule.relations for rule in group.rules] for group in groups] == [[(0, 1, 2), (1, 1, 0)], [(0, 1), (0, 2)]]
    assert [rule.constants for rule in groups[1].rules] == [(0, 1), (2, 3)]


def test_shapes_differ_by_order_of_variables_repetition_and_constants():
    rules = rule_set(
        "p(X, Y) => q(X, Y)\np(X, Y) => q(Y, X)\np(X, X) => q(X, X)\np(X, bob) => q(X, bob)\np(X, bob) => q(X, cleo)"
    )
    assert len(rules.groups) == 5


def test_of_equal_rules_the_first_is_kept_with_its_clause():
    clauses = parse_clauses("p(X, Y) => q(X, Y)\np(U, V) => q(U, V) <0.5>")
    (rule,) = encode_rules(clauses, GRAPH.entities, GRAPH.relations).rules
    assert rule.clause is clauses[0]


def test_rules_are_found_by_the_relation_that_they_derive_in_order():
    rules = rule_set("p(X, Y) => r(X, Y)\nr(X, Y) => p(X, Y)\nq(X, Y) => r(Y, X)")
    assert {relation: [rule.relations[0] for rule in some] for relation, some in rules.by_head.items()} == {
        2: [0, 1],
        0: [2],
    }
    assert rules.relations == {0, 1, 2}


def test_clauses_that_derive_nothing_are_left_out_with_the_reason():
    left_out = rule_set("p(X, Y) | q(X, Y)\np(X, Y) => false\np(X, Y)\np(anna, bob)").left_out
    assert [reason.split(":")[0] for _, reason in left_out] == [
        "not a Horn clause",
        "a constraint",
        "no body that binds its variables",
    ]


def test_names_that_the_graph_does_not_have_are_refused():
    with pytest.raises(InputError, match="unknown relation 'nobody'"):
        rule_set("nobody(X, Y) => p(X, Y)")
