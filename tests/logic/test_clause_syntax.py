"""Each way to write a clause, and the formula it means."""

from __future__ import annotations

import pytest

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
)

X, Y, Z = Variable("X"), Variable("Y"), Variable("Z")
P, Q, R = Atom("p", X, Y), Atom("q", X, Y), Atom("r", X, Y)


@pytest.mark.parametrize("arrow", ["=>", "==>", "->", "⇒", "→"])
def test_forward_arrows_put_the_head_last(arrow: str) -> None:
    assert parse_clause(f"p(X,Y){arrow}q(X,Y)").formula == Implies(P, Q)
    assert parse_clause(f"p(X, Y) {arrow} q(X, Y).").formula == Implies(P, Q)


@pytest.mark.parametrize("arrow", [":-", "<=", "<-", "⇐", "←"])
def test_reversed_arrows_put_the_head_first(arrow: str) -> None:
    assert parse_clause(f"q(X,Y){arrow}p(X,Y).").formula == Implies(P, Q)
    assert parse_clause(f"q(X, Y) {arrow} p(X, Y)").formula == Implies(P, Q)


@pytest.mark.parametrize("arrow", ["<=>", "<->", "⇔", "↔"])
def test_equivalences(arrow: str) -> None:
    assert parse_clause(f"p(X,Y){arrow}q(X,Y)").formula == Iff(P, Q)


@pytest.mark.parametrize("operator", [",", "&", "&&", "∧"])
def test_conjunctions(operator: str) -> None:
    assert parse_clause(f"p(X,Y){operator}q(X,Y) {operator} r(X,Y)").formula == And((P, Q, R))


@pytest.mark.parametrize("operator", ["|", "||", ";", "∨"])
def test_disjunctions(operator: str) -> None:
    assert parse_clause(f"p(X,Y){operator}q(X,Y) {operator} r(X,Y)").formula == Or((P, Q, R))


@pytest.mark.parametrize("operator", ["~", "!", "¬", "not ", "~ "])
def test_negations(operator: str) -> None:
    assert parse_clause(f"{operator}p(X,Y)").formula == Not(P)
    assert parse_clause(f"{operator}(p(X,Y), q(X,Y))").formula == Not(And((P, Q)))


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("p(X,Y) => false", Implies(P, Falsum())),
        ("p(X,Y) => false.", Implies(P, Falsum())),
        ("p(X,Y) => ⊥", Implies(P, Falsum())),
        ("false <= p(X,Y)", Implies(P, Falsum())),
        (":- p(X,Y), q(X,Y).", Implies(And((P, Q)), Falsum())),
        (":-p(X,Y)", Implies(P, Falsum())),
        ("p(X,Y)", P),
        ("p(X, X)", Atom("p", X, X)),
        ("p(X,Y) => q(X,Y) | r(X,Y)", Implies(P, Or((Q, R)))),
        ("q(X,Y) ; r(X,Y) :- p(X,Y).", Implies(P, Or((Q, R)))),
        ("not(p(X,Y))", Not(P)),
        ("~~p(X,Y)", Not(Not(P))),
        ("((p(X,Y)))", P),
    ],
)
def test_formula_of_any_kind(text: str, formula: Formula) -> None:
    assert parse_clause(text).formula == formula


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("p(X,Y) | q(X,Y), r(X,Y)", Or((P, And((Q, R))))),
        ("p(X,Y), q(X,Y) | r(X,Y)", Or((And((P, Q)), R))),
        ("(p(X,Y) | q(X,Y)), r(X,Y)", And((Or((P, Q)), R))),
        ("~p(X,Y), q(X,Y)", And((Not(P), Q))),
        ("p(X,Y) | q(X,Y) => r(X,Y)", Implies(Or((P, Q)), R)),
        ("p(X,Y) => (q(X,Y) => r(X,Y))", Implies(P, Implies(Q, R))),
        ("(p(X,Y) => q(X,Y)) => r(X,Y)", Implies(Implies(P, Q), R)),
        ("(p(X,Y), q(X,Y)), r(X,Y)", And((And((P, Q)), R))),
    ],
)
def test_negation_binds_before_conjunction_before_disjunction_before_arrows(text: str, formula: Formula) -> None:
    assert parse_clause(text).formula == formula


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("X", Variable("X")),
        ("Person", Variable("Person")),
        ("_x", Variable("_x")),
        ("X1", Variable("X1")),
        ("É", Variable("É")),
        ("x", Variable("x")),
        ("?x", Variable("x")),
        ("?who", Variable("who")),
        ("?X", Variable("X")),
        ("xy", Constant("xy")),
        ("x1", Constant("x1")),
        ("paris", Constant("paris")),
        ("'x'", Constant("x")),
        ("'USA'", Constant("USA")),
        ('"_"', Constant("_")),
        ("New-York", Constant("New-York")),
        ("/m/02_286", Constant("/m/02_286")),
        ("03964744", Constant("03964744")),
        ("1.5", Constant("1.5")),
        ("-1", Constant("-1")),
        ("京", Constant("京")),
        ("not", Constant("not")),
        ("false", Constant("false")),
        ("''", Constant("")),
    ],
)
def test_arguments_are_variables_or_constants(text: str, term: Variable | Constant) -> None:
    assert parse_clause(f"p({text}, {text})").formula == Atom("p", term, term)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("/location/location/contains", "/location/location/contains"),
        ("/a/b./c/d", "/a/b./c/d"),
        ("_hypernym", "_hypernym"),
        ("concept:city:paris", "concept:city:paris"),
        ("Likes", "Likes"),
        ("x", "x"),
        ("2nd-cousin", "2nd-cousin"),
        ("not-x", "not-x"),
        ("not.x", "not.x"),
        ("nothing", "nothing"),
        ("false/alarm", "false/alarm"),
        ("हिन्दी", "हिन्दी"),
        ("'part of'", "part of"),
        ('"part of"', "part of"),
        ("'not'", "not"),
        (r"'it\'s'", "it's"),
        (r'"a\"b\\c\n\u00e9\U0001f600"', 'a"b\\c\né😀'),
        ("'http://x.org/#a%(b)'", "http://x.org/#a%(b)"),
    ],
)
def test_relation_names(text: str, name: str) -> None:
    assert parse_clause(f"{text}(X, Y) :- {text}(Y, X)").formula == Implies(Atom(name, Y, X), Atom(name, X, Y))


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("q(X,Y) :- p(X,Y)", 1.0),
        ("q(X,Y) :- p(X,Y) <0.9>", 0.9),
        ("q(X,Y) :- p(X,Y)<0.9>.", 0.9),
        ("q(X,Y) :- p(X,Y). < 0.9 >", 0.9),
        ("q(X,Y) :- p(X,Y) <2>", 2.0),
        ("q(X,Y) :- p(X,Y) <0>", 0.0),
        ("q(X,Y) :- p(X,Y) <1e-3>", 0.001),
        ("0.9::q(X,Y) :- p(X,Y).", 0.9),
        ("0.9: p(X,Y) => q(X,Y)", 0.9),
    ],
)
def test_weights(text: str, weight: float) -> None:
    assert parse_clause(text) == Clause(Implies(P, Q), weight)


def test_a_number_and_one_colon_begin_a_name_when_no_space_follows() -> None:
    assert parse_clause("0.9:q(X, Y)") == Clause(Atom("0.9:q", X, Y))


def test_each_underscore_is_a_new_variable() -> None:
    clause = parse_clause("p(_, _1), q(_, '_') => r(_1, _1)")
    first, second, head = clause.atoms
    assert first.subject not in {first.object, second.subject}
    assert second.subject != first.object == head.subject
    assert second.object == Constant("_")


def test_comments_and_blank_lines_are_skipped_and_lines_are_counted() -> None:
    text = "% one\n\n   # two\np(X,Y). % three\r\n'a#%'(X,Y) # four\rq(X,Y).#five\n"
    clauses = parse_clauses(text, "rules")
    assert [str(clause) for clause in clauses] == ["p(X, Y)", "'a#%'(X, Y)", "q(X, Y)"]
    assert [(clause.source, clause.line) for clause in clauses] == [("rules", 4), ("rules", 5), ("rules", 6)]


def test_columns_point_at_relations_and_terms() -> None:
    body, head = parse_clause("  p(X, 'a b') => q(?y, X)").atoms
    assert (body.column, body.subject.column, body.object.column) == (3, 5, 8)
    assert (head.column, head.subject.column, head.object.column) == (18, 20, 24)


def test_place_and_columns_do_not_make_clauses_differ() -> None:
    here, there = parse_clauses("p(X, Y)\n\n   p(X,   Y)", "f")
    assert here == there
    assert len({here, there}) == 1
