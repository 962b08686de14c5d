"""The mark ``<hard>``: where a weight stands, read, printed and kept by the formats that have a place for it."""

from __future__ import annotations

import pytest

from clausal.errors import InputError
from clausal.logic import parse_clause, parse_clauses, print_clause
from clausal.logic.formats.language import write_clausal, write_prolog


@pytest.mark.parametrize(
    "text",
    [
        "p(X, Y) => q(X, Y) <hard>",
        "q(X, Y) :- p(X, Y). <hard>",
        "q(X, Y) :- p(X, Y) < hard >.",
        "p(X, Y) => q(X, Y) <hard> % x",
    ],
)
def test_the_mark_stands_where_a_weight_does(text):
    clause = parse_clause(text)
    assert clause.hard
    assert clause.weight == 1
    assert print_clause(clause) == "p(X, Y) => q(X, Y) <hard>"
    assert parse_clause(print_clause(clause)) == clause


def test_a_clause_without_the_mark_is_soft_and_another_clause():
    hard, soft = parse_clauses("p(X, Y) => q(X, Y) <hard>\np(X, Y) => q(X, Y)")
    assert not soft.hard
    assert hard != soft


def test_a_relation_may_be_called_hard():
    assert not parse_clause("hard(X, Y) => hard(Y, X)").hard


@pytest.mark.parametrize("text", ["p(X, Y) => q(X, Y) <Hard>", "p(X, Y) => q(X, Y) <firm>"])
def test_other_words_are_refused_with_what_is_allowed(text):
    with pytest.raises(InputError, match=r"a weight is a number, as in <0\.9>, or <hard>"):
        parse_clause(text)


def test_a_mark_and_a_weight_are_one_too_many():
    with pytest.raises(InputError, match="one weight"):
        parse_clause("0.9::q(X, Y) :- p(X, Y) <hard>")


@pytest.mark.parametrize("write", [write_clausal, write_prolog])
def test_the_formats_of_the_language_keep_it(write):
    clauses = parse_clauses("p(X, Y) => q(X, Y) <hard>\nq(X, Y) => p(X, Y) <0.5>")
    assert parse_clauses("\n".join(write(clauses))) == clauses
