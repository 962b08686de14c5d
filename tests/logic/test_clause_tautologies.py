"""Clauses that say nothing: those that hold whatever the facts are, and no others."""

from __future__ import annotations

import pytest

from clausal.logic import parse_clause, parse_clauses
from clausal.logic.review import find_tautologies


@pytest.mark.parametrize(
    "text",
    [
        "p(X, Y) => p(X, Y)",
        "p(X, Y), q(Y, Z) => q(Y, Z)",
        "p(X, paris) => p(X, paris)",
        "p(X, Y) | ~p(X, Y)",
        "p(X, Y) <=> p(X, Y)",
        "p(X, Y) => p(X, Y) | q(X, Y)",
        "p(X, Y) & ~p(X, Y) => false",
    ],
)
def test_what_holds_whatever_the_facts_are_says_nothing(text: str) -> None:
    clause = parse_clause(text)
    assert find_tautologies([clause]) == [clause]


@pytest.mark.parametrize(
    "text",
    [
        "p(X, Y) => p(Y, X)",
        "p(X, Y), p(Y, Z) => p(X, Z)",
        "p(X, X) => p(X, Y)",
        "p(X, paris) => p(X, rome)",
        "p(X, Y) <=> p(Y, X)",
        "p(X, Y) | q(X, Y)",
        "p(X, Y), q(X, Y) => false",
        "p(X, Y)",
    ],
)
def test_what_some_facts_break_says_something(text: str) -> None:
    assert find_tautologies(parse_clauses(text)) == []
