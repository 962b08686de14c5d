"""Clauses against a vocabulary: what is unknown or unbound, with its place and the nearest name."""

from __future__ import annotations

import pytest

from clausal.errors import InputError
from clausal.graph.vocabulary import Names
from clausal.logic import Atom, Clause, Constant, Variable, check_clauses, parse_clauses

ENTITIES = Names(["paris", "france", "USA"], "entity")
RELATIONS = Names(["located_in", "capital_of", "borders"], "relation")


def check(text: str) -> None:
    check_clauses(parse_clauses(text, "f.pl"), ENTITIES, RELATIONS)


def problems(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        check(text)
    return str(caught.value).split("\n")


@pytest.mark.parametrize(
    "text",
    [
        "located_in(X, Y) :- capital_of(X, Y)",
        "located_in(paris, france)",
        "borders(X, Y)",
        "borders(X, Y) => false",
        "borders(X, Y) => located_in(X, 'USA')",
        "borders(X, Y) | located_in(X, Z) => capital_of(U, V)",
        "borders(X, Y) => capital_of(X, U) | capital_of(Y, U)",
        "borders(X, _) => located_in(X, X)",
    ],
)
def test_clauses_that_fit_pass(text: str) -> None:
    check(text)


def test_an_unknown_relation_is_named_with_the_nearest() -> None:
    assert problems("borders(X, Y), located_inn(Y, Z) => located_in(X, Z)") == [
        "f.pl:1:16: unknown relation 'located_inn'; did you mean 'located_in'?"
    ]
    assert problems("\nzzz(X, Y)") == ["f.pl:2:1: unknown relation 'zzz'; it is none of the graph's 3 relations"]


def test_an_unknown_constant_is_named_with_the_nearest() -> None:
    assert problems("located_in(parys, france)") == ["f.pl:1:12: unknown constant 'parys'; did you mean 'paris'?"]
    assert problems("located_in(x1, Y)") == [
        "f.pl:1:12: unknown constant 'x1'; a variable starts with an upper-case letter or '?'"
    ]


def test_a_head_variable_that_the_body_lacks_is_an_error() -> None:
    assert problems("borders(X, Y) => located_in(X, Z)") == [
        "f.pl:1:32: the head's variable 'Z' is not in the body; add an atom with it to the body"
    ]
    assert problems("located_in(X, USA) :- borders(X, Y)") == [
        "f.pl:1:15: the head's variable 'USA' is not in the body; quote it to mean the entity"
    ]
    assert len(problems("located_in(A, B) :- borders(X, Y)\nlocated_in(A, A) :- borders(X, Y)")) == 3


def test_one_wrong_name_is_one_problem_at_its_first_place() -> None:
    assert problems("bordrs(X, Y) => bordrs(Y, X)\nbordrs(X, paris)") == [
        "f.pl:1:1: unknown relation 'bordrs' (3 times); did you mean 'borders'?"
    ]


def test_all_problems_come_in_one_message_in_order_and_at_most_ten() -> None:
    assert [line.split(" ")[0] for line in problems("zzz(X, yyy)\nborders(X, X) => xxx(X, Z)")] == [
        "f.pl:1:1:",
        "f.pl:1:8:",
        "f.pl:2:18:",
        "f.pl:2:25:",
    ]
    many = problems("\n".join(f"unknown{number}(X, Y)" for number in range(25)))
    assert many[-1] == "and 15 more"
    assert [line.split(":")[1] for line in many[:-1]] == [str(number) for number in range(1, 11)]


def test_clauses_made_in_python_are_shown_themselves() -> None:
    clause = Clause(Atom("borders", Variable("X"), Constant("spain")))
    with pytest.raises(InputError) as caught:
        check_clauses([clause], ENTITIES, RELATIONS)
    assert str(caught.value).startswith("in 'borders(X, spain)': unknown constant 'spain'")
