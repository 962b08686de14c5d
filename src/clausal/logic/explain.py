"""What is wrong with the text of a clause, in words: lark's errors made readable."""

from __future__ import annotations

import re
from typing import cast

from lark import UnexpectedInput, UnexpectedToken

from clausal.logic.place import Misread

_ARROW = re.compile(r"==>|=>|->|⇒|→|<=>|<->|⇔|↔|:-|<=|<-|⇐|←")
_WORD = re.compile(r"[^\s(),'\"&|;<>=~!]+|.", re.DOTALL)
_LONGEST_WORD = 40
_ONLY_IN_QUOTES = frozenset("#@$+*^[]{}\\`")


def explain(error: UnexpectedInput, text: str) -> Misread:
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
        return "a weight is a number, as in <0.9>"
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
