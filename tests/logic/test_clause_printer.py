"""The canonical text of a clause: it reads back as an equal clause, with nothing needless in it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clausal.logic import (
    And,
    Atom,
    Clause,
    Constant,
    Falsum,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Variable,
    parse_clause,
    parse_clauses,
    print_clause,
)
from clausal.logic.names import is_variable_name

ODD_NAMES = [
    "", "_", "x", "X", "Abc", "not", "false", "not.", "false.", ".", "a.", "a./b", ":-", ":-p", "->", "1:",
    "0.9::p", "1e5::", "a b", "it's", '"', "\\", "\\n", "a\nb", "\r", "\t", "\x00", "\u2028", "\ud800",
    "\u00a0", "😀", "हिन्दी", "Éa", "é", "ǅ", "京", "#", "a#b", "%", "?x", "<0.9>", "a,b", "(", "-", "/m/0",
    "A-b", "⇒", "a⇒b", "¬p", "⊥", "&", "~p",
]  # fmt: skip
names = st.sampled_from(ODD_NAMES) | st.text(max_size=6) | st.text("aX_.:-/0'\" ", max_size=5)
variable_names = names.filter(is_variable_name) | st.sampled_from(["X", "x", "who", "_1", "Éa", "1"])
atoms = st.builds(Atom, names, *[st.builds(Variable, variable_names) | st.builds(Constant, names) for _ in range(2)])


def _grow(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return (
        st.builds(Not, inner)
        | st.builds(And, several)
        | st.builds(Or, several)
        | st.builds(Implies, inner, inner)
        | st.builds(Iff, inner, inner)
    )


formulas = st.recursive(atoms | st.just(Falsum()), _grow, max_leaves=8)
weights = st.just(1.0) | st.floats(min_value=0, allow_infinity=False, allow_nan=False)


@settings(deadline=None)  # the first example builds the parser
@given(st.builds(Clause, formulas, weights))
def test_printing_then_reading_gives_the_same_clause(clause: Clause) -> None:
    text = print_clause(clause)
    assert parse_clause(text) == clause
    assert parse_clauses(text + "\n" + text) == [clause, clause]
    assert print_clause(parse_clause(text)) == text


@pytest.mark.parametrize("name", ODD_NAMES)
def test_every_odd_name_survives_in_every_place(name: str) -> None:
    atom = Atom(name, Constant(name), Constant(name))
    for formula in (atom, Not(atom), Implies(atom, Or((atom, And((atom, atom)))))):
        assert parse_clause(print_clause(Clause(formula))) == Clause(formula)


def test_what_cannot_be_seen_is_escaped() -> None:
    atom = Atom("a\u200bb", Constant("tab\t"), Constant("it's"))
    assert print_clause(Clause(atom)) == r"'a\u200bb'('tab\t', 'it\'s')"


@pytest.mark.parametrize(
    "text",
    [
        "p(X, Y), q(Y, Z) => r(X, Z)",
        "p(X, Y) => q(X, Y) <0.9>",
        "p(X, Y) => q(X, Y) <2>",
        "p(X, Y) => q(X, Y) <1e-05>",
        "p(X, Y) <=> q(Y, X)",
        "parent(X, Y) => father(X, Y) | mother(X, Y)",
        "~(p(X, Y) & q(X, Y))",
        "p(X, Y) & q(X, Y) | ~r(X, Y)",
        "p(X, Y) => (q(X, Y) => r(X, Y))",
        "(p(X, Y) | q(X, Y)), ~~r(X, Y) => false",
        "/a/b./c(X, ?who), _d(x, /m/0) => 'e f'(X, 'x')",
        "p('X', paris)",
    ],
)
def test_canonical_texts_are_printed_as_they_are(text: str) -> None:
    assert str(parse_clause(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("q(X,Y):-p(X,Y).", "p(X, Y) => q(X, Y)"),
        (":- p(X,Y); q(X,Y)", "p(X, Y) | q(X, Y) => false"),
        ("a(x,y)&&b(y,z)==>c(x,z)", "a(x, y), b(y, z) => c(x, z)"),
        ("((p(X,Y)) | (q(X,Y)))", "p(X, Y) | q(X, Y)"),
        ("0.50::'p'(\"paris\",?X)", "p(paris, X) <0.5>"),
        ("p(X,Y) <1.0>", "p(X, Y)"),
    ],
)
def test_other_ways_to_write_are_printed_canonically(text: str, canonical: str) -> None:
    assert str(parse_clause(text)) == canonical
