"""From the grammar to the syntax tree: what each rule of ``grammar.lark`` builds. Slow to import (lark)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import cast

from lark import Lark, Token, Transformer, UnexpectedInput

from clausal.errors import InputError
from clausal.logic.explain import explain
from clausal.logic.names import reads_as_variable, unquote
from clausal.logic.place import Misread
from clausal.logic.syntax import And, Atom, Constant, Falsum, Formula, Iff, Implies, Not, Or, Term, Variable

_ANY_VARIABLE = "_1"


def read(text: str) -> tuple[Formula, float]:
    """Read one clause's formula and weight; what cannot be read is a ``Misread``."""
    try:
        return cast(tuple[Formula, float], _engine().parse(text))
    except UnexpectedInput as error:
        raise explain(error, text) from None


@cache
def _engine() -> Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start="clause", maybe_placeholders=True, transformer=_Builder())


class _Builder(Transformer[Token, tuple[Formula, float]]):
    def clause(self, parts: list[Token | Formula | None]) -> tuple[Formula, float]:
        before, formula, after = parts
        assert not isinstance(formula, Token)
        assert formula is not None
        if isinstance(before, Token) and isinstance(after, Token):
            raise Misread(_column(after), "a clause has one weight, and this is its second")
        for token in (before, after):
            if isinstance(token, Token):
                return formula, _weight(token)
        return formula, 1.0

    def denial(self, parts: list[Formula]) -> Formula:
        return Implies(parts[0], Falsum())

    def implies(self, parts: list[Formula]) -> Formula:
        return Implies(parts[0], parts[1])

    def implied_by(self, parts: list[Formula]) -> Formula:
        return Implies(parts[1], parts[0])

    def iff(self, parts: list[Formula]) -> Formula:
        return Iff(parts[0], parts[1])

    def or_(self, parts: list[Formula]) -> Formula:
        return Or(tuple(parts))

    def and_(self, parts: list[Formula]) -> Formula:
        return And(tuple(parts))

    def not_(self, parts: list[Formula]) -> Formula:
        return Not(parts[0])

    def false(self, _: list[Formula]) -> Formula:
        return Falsum()

    def atom(self, parts: list[Token]) -> Formula:
        relation, *terms = parts
        name, column = _name(relation), _column(relation)
        if len(terms) != 2:
            count = sum(term is not None for term in terms)
            raise Misread(
                column,
                f"wrong arity: '{name}' has {count} argument{'' if count == 1 else 's'}, "
                "but a relation takes two, a subject and an object",
            )
        return Atom(name, _term(terms[0]), _term(terms[1]), column)


def _term(token: Token) -> Term:
    column = _column(token)
    if token.type == "MARKED_VARIABLE":
        try:
            return Variable(token[1:], column)
        except InputError:
            raise Misread(column, f"'{token}' is not a variable; write '_' for a new one") from None
    if token == "_":
        return Variable(_ANY_VARIABLE, column)  # the parser, which knows the other names, gives it its own
    if token.type == "NAME" and reads_as_variable(token):
        return Variable(str(token), column)
    return Constant(_name(token), column)


def _name(token: Token) -> str:
    if token.type != "QUOTED":
        return str(token)
    try:
        return unquote(token)
    except (ValueError, OverflowError):
        raise Misread(
            _column(token),
            f"a wrong escape in {token}; these are known: \\\\ \\' \\\" \\n \\r \\t \\uXXXX \\UXXXXXXXX",
        ) from None


def _weight(token: Token) -> float:
    text = token.strip("<:>").strip()
    try:
        weight = float(text)
    except ValueError:
        raise Misread(_column(token), f"a weight is a number, as in <0.9>, not '{text}'") from None
    if not 0 <= weight < float("inf"):
        raise Misread(_column(token), f"a weight must be a finite number of at least 0, not {text}")
    return weight


def _column(token: Token) -> int:
    return (token.start_pos or 0) + 1
