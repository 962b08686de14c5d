"""From the text of one clause to its syntax tree, by ``grammar.lark``; what is wrong with it, in words.

Slow to import, as lark is.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import cast

from lark import Lark, Token, Transformer, UnexpectedInput, UnexpectedToken

from clausal.errors import InputError
from clausal.logic.lines import Misread
from clausal.logic.names import reads_as_variable, unquote
from clausal.logic.syntax import And, Atom, Constant, Falsum, Formula, Iff, Implies, Not, Or, Term, Variable

_ANY_VARIABLE = "_1"
_ARROW = re.compile(r"==>|=>|->|⇒|→|<=>|<->|⇔|↔|:-|<=|<-|⇐|←")
_WORD = re.compile(r"[^\s(),'\"&|;<>=~!]+|.", re.DOTALL)
_LONGEST_WORD = 40
_ONLY_IN_QUOTES = frozenset("#@$+*^[]{}\\`")


HARD = "hard"
"""What stands in a weight's place behind a clause that the model must not be able to break."""


def read(text: str) -> tuple[Formula, float, bool]:
    """Read one clause's formula, its weight, and whether it is hard; what cannot be read is a ``Misread``."""
    try:
        return cast(tuple[Formula, float, bool], _lark().parse(text))
    except UnexpectedInput as error:
        raise _to_misread(error, text) from None


@cache
def _lark() -> Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start="clause", maybe_placeholders=True, transformer=_Builder())


class _Builder(Transformer[Token, tuple[Formula, float, bool]]):
    def clause(self, parts: list[Token | Formula | None]) -> tuple[Formula, float, bool]:
        before, formula, after = parts
        assert not isinstance(formula, Token)
        assert formula is not None
        if isinstance(before, Token) and isinstance(after, Token):
            raise Misread(_column(after), "a clause has one weight, and this is its second")
        for token in (before, after):
            if isinstance(token, Token):
                hard = token.strip("<>").strip() == HARD
                return formula, 1.0 if hard else _weight(token), hard
        return formula, 1.0, False

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
        raise Misread(_column(token), f"a weight is a number, as in <0.9>, or <{HARD}>, not '{text}'") from None
    if not 0 <= weight < float("inf"):
        raise Misread(_column(token), f"a weight must be a finite number of at least 0, not {text}")
    return weight


def _column(token: Token) -> int:
    return (token.start_pos or 0) + 1


def _to_misread(error: UnexpectedInput, text: str) -> Misread:
    """Say at which column of ``text`` reading stopped, what was expected there and what was found."""
    assert error.interactive_parser is not None  # lark gives one with each error of its LALR parser
    accepts = cast(set[str], error.interactive_parser.accepts())
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        position = error.token.end_pos or 0  # where the last word ended: a comment may follow it
        hint = "; a clause stays on one line" if "NAME" in accepts else ""
        return Misread(position + 1, f"expected {_expected(accepts)}, found the end of the line{hint}")
    position = cast(int, error.pos_in_stream)
    problem = _known_mistake(text, position, accepts)
    return Misread(position + 1, problem or f"expected {_expected(accepts)}, found {_word_at(text, position)}")


def _known_mistake(text: str, position: int, accepts: set[str]) -> str | None:
    character = text[position]
    after_name = "_OPEN" in accepts and "NAME" not in accepts
    after_term = accepts == {"_COMMA", "_CLOSE"}
    in_name = after_name or after_term or "NAME" in accepts
    ended = "$END" in accepts and "_FULL_STOP" not in accepts
    if character in "'\"" and "QUOTED" in accepts:
        return f"the quote {character} that opens here is not closed"
    if after_term and character == "(":
        return "a term in a term; clauses are function-free, so an argument is a variable or a constant"
    if (after_name or after_term) and character == ".":
        return "a name that ends with '.' needs quotes"
    if in_name and character in _ONLY_IN_QUOTES:
        return f"a name with '{character}' in it needs quotes"
    if ended:
        return "the clause has ended; the next one goes on a line of its own"
    if not in_name and _ARROW.match(text, position):
        return "a second arrow; put one of the two implications in parentheses"
    if character == ")" and "$END" in accepts:
        return "a ')' without its '('"
    if character == "<" and "WEIGHT" in accepts:
        return f"a weight is a number, as in <0.9>, or <{HARD}>"
    if character == "<" and "$END" in accepts:
        return f"a clause has one weight or <{HARD}>, and this is its second"
    return None


def _expected(accepts: set[str]) -> str:
    if "MARKED_VARIABLE" in accepts:
        return "a variable or a constant"
    if "NAME" in accepts:
        return "an atom such as p(X, Y)"
    words = []
    if "_OPEN" in accepts:
        words.append("'(' after the relation's name")
    if "_AND" in accepts:
        arrows = ", '=>', ':-'" if "_IMPLIES" in accepts else ""
        words.append(f"an operator (',', '|'{arrows})")
    elif "_COMMA" in accepts:
        words.append("','")
    if "_CLOSE" in accepts:
        words.append("')'")
    if "$END" in accepts:
        words.append("the end of the clause")
    return " or ".join(words)


def _word_at(text: str, position: int) -> str:
    match = _ARROW.match(text, position) or _WORD.match(text, position)
    word = match.group() if match else ""
    if len(word) > _LONGEST_WORD:
        word = word[:_LONGEST_WORD] + "…"
    return f"'{word}'" if word.isprintable() else ascii(word)
