"""Shapes: what clauses that differ only in names share, and nothing more."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clausal.logic import (
    Atom,
    AtomShape,
    Clause,
    Constant,
    Falsum,
    Implies,
    Shape,
    Slot,
    Variable,
    horn_parts,
    is_horn,
    one_atom_rule,
    parse_clause,
    shape_of,
)
from clausal.logic.syntax import map_leaves


def shape(text: str) -> Shape:
    return shape_of(parse_clause(text))[0]


def test_a_shape_numbers_atoms_variables_and_constants_by_first_occurrence() -> None:
    result, relations, constants = shape_of(parse_clause("q(B, paris) :- p(A, B), p(paris, x1) <0.5>"))
    first = AtomShape(0, Slot("variable", 0), Slot("variable", 1))
    second = AtomShape(1, Slot("constant", 0), Slot("constant", 1))
    head = AtomShape(2, Slot("variable", 1), Slot("constant", 0))
    assert result.atoms == (first, second, head)
    assert (result.variables, result.constants) == (2, 2)
    assert relations == ("p", "p", "q")
    assert constants == ("paris", "x1")
    assert str(result) == "r0(X, Y), r1(c0, c1) => r2(Y, c0)"


SAME = [
    ("p(X, Y), q(Y, Z) => r(X, Z)", "a(x,z) :- b(x,y), b(y,z). <0.3>"),
    ("p(X, Y) => q(Y, X)", "q(A, B) <= q(B, A)"),
    ("p(X, paris) => q(X, rome)", "p(Y, oslo) => p(Y, bern)"),
    (":- p(X, X)", "q(Y, Y) => false"),
    ("~(p(X, Y) & q(X, Y)) | r(Y, Z)", "not (a(U, V), a(U, V)); b(V, W)"),
]
DIFFERENT = [
    ("p(X, Y) => q(X, Y)", "p(X, Y) => q(Y, X)"),
    ("p(X, Y) => q(X, Y)", "p(X, Y) <=> q(X, Y)"),
    ("p(X, Y), q(X, Y)", "p(X, Y) | q(X, Y)"),
    ("p(X, Y)", "p(X, X)"),
    ("p(X, Y)", "p(X, paris)"),
    ("p(X, paris) => q(X, paris)", "p(X, paris) => q(X, rome)"),
    ("p(X, Y) => q(X, Y)", "p(X, Y) => ~q(X, Y)"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_clauses_that_differ_only_in_names_and_weight_have_one_shape(one: str, other: str) -> None:
    assert shape(one) == shape(other)
    assert len({shape(one), shape(other)}) == 1


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_clauses_have_other_shapes(one: str, other: str) -> None:
    assert shape(one) != shape(other)


terms = st.sampled_from([*map(Variable, "XYZ"), *map(Constant, ["a1", "b1"])])
bodies = st.lists(st.builds(Atom, st.sampled_from("pq"), terms, terms), min_size=2, max_size=2)


@settings(deadline=None)
@given(bodies, bodies)
def test_shapes_are_equal_exactly_when_some_renaming_makes_the_clauses_equal(
    one: list[Atom], other: list[Atom]
) -> None:
    def renamings(clause: Clause) -> set[Clause]:
        variables, constants = [Variable(name) for name in "XYZ"], [Constant("a1"), Constant("b1")]
        renamed = set()
        for new_variables in itertools.permutations(variables):
            for new_constants in itertools.permutations(constants):
                new = dict(zip([*variables, *constants], [*new_variables, *new_constants], strict=True))
                formula = map_leaves(
                    clause.formula, lambda atom, new=new: Atom("r", new[atom.subject], new[atom.object])
                )
                renamed.add(Clause(formula))
        return renamed

    first, second = (Clause(Implies(*atoms)) for atoms in (one, other))
    assert (shape_of(first)[0] == shape_of(second)[0]) == bool(renamings(first) & renamings(second))


def test_a_shape_with_many_variables_prints_distinct_ones() -> None:
    text = ", ".join(f"p(A{index}, A{index + 1})" for index in range(9))
    assert shape(str(shape(text))) == shape(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("p(X, Y) => q(X, Y)", "implication"),
        ("p(X, Y) => p(Y, X)", "inverse"),
        ("q(B, A) :- p(A, B)", "inverse"),
        ("p(X, X) => q(X, X)", None),
        ("p(X, Y) => q(X, X)", None),
        ("p(X, Y) => q(X, Z)", None),
        ("p(X, Y) => q(Z, X)", None),
        ("p(X, paris) => q(X, paris)", None),
        ("p(X, Y) <=> q(X, Y)", None),
        ("p(X, Y) => ~q(X, Y)", None),
        ("p(X, Y) => false", None),
        ("p(X, Y), p(X, Y) => q(X, Y)", None),
    ],
)
def test_rules_with_one_atom_in_the_body_are_recognised(text: str, kind: str | None) -> None:
    assert one_atom_rule(shape(text)) == kind


@pytest.mark.parametrize(
    ("text", "horn"),
    [
        ("p(X, Y) => q(X, Y)", True),
        ("(p(X, Y), q(X, Y)), r(X, Y) => s(X, Y)", True),
        ("p(X, Y), q(X, Y) => false", True),
        ("p(X, Y)", True),
        ("p(X, Y) | q(X, Y) => r(X, Y)", False),
        ("~p(X, Y) => q(X, Y)", False),
        ("p(X, Y) => q(X, Y) | r(X, Y)", False),
        ("p(X, Y) <=> q(X, Y)", False),
    ],
)
def test_horn_clauses_are_recognised(text: str, horn: bool) -> None:
    assert is_horn(parse_clause(text)) is horn


def test_horn_parts_are_body_and_head() -> None:
    clause = parse_clause("r(X, Z) :- p(X, Y), q(Y, Z)")
    assert horn_parts(clause) == (clause.atoms[:2], clause.atoms[2])
    assert horn_parts(parse_clause(":- p(X, Y)")) == (parse_clause("p(X, Y)").atoms, Falsum())
    assert horn_parts(parse_clause("p(X, Y)")) == ((), parse_clause("p(X, Y)").formula)
