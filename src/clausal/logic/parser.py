"""Clauses from text, one per line, in the language of ``grammar.lark``."""

from __future__ import annotations

import re
from itertools import count

from clausal.errors import InputError
from clausal.logic.lines import Misread, describe_misread, read_lines
from clausal.logic.names import has_anonymous, is_anonymous_at
from clausal.logic.syntax import Atom, Clause, Formula, Term, Variable, children, map_leaves

_NUMBERED = re.compile("_([0-9]{1,9})")
_DEEPEST = 100  # beyond any clause that is meant, and below Python's own limit


def parse_clause(text: str) -> Clause:
    """Read one clause."""
    try:
        formula, weight, hard = _parse(text)
        return Clause(formula, weight, hard=hard)
    except Misread as misread:
        raise InputError(describe_misread(misread, text, None, None)) from None


def parse_clauses(text: str, source: str | None = None) -> list[Clause]:
    """Read clauses, one per line, with ``%`` and ``#`` comments; ``source`` is named in errors."""

    def read(line: str, number: int) -> Clause | None:
        content = line.lstrip()
        if not content or content[0] in "%#":
            return None
        formula, weight, hard = _parse(line)
        return Clause(formula, weight, source, number, hard=hard)

    return read_lines(text, source, read)


def _parse(text: str) -> tuple[Formula, float, bool]:
    from clausal.logic.builder import read  # lark is slow to import, and many commands read no clauses

    formula, weight, hard = read(text)
    _check_depth(formula)
    return (_name_anonymous(formula, text) if has_anonymous(text) else formula), weight, hard


def _check_depth(formula: Formula) -> None:
    level = [formula]
    for _ in range(_DEEPEST):
        level = [child for parent in level for child in children(parent)]
        if not level:
            return
    raise Misread(1, f"a formula nested more than {_DEEPEST} levels deep; write it in a flatter way")


def _name_anonymous(formula: Formula, text: str) -> Formula:
    # ``_1`` may not be a part of any name: of ``_12`` neither. Fresh names have few digits, however many there are.
    taken = {digits[:end] for digits in _NUMBERED.findall(text) for end in range(1, len(digits) + 1)}
    fresh = (f"_{number}" for number in count(1) if str(number) not in taken)

    def rename(term: Term) -> Term:
        if isinstance(term, Variable) and is_anonymous_at(text, term.column or 0):
            return Variable(next(fresh), term.column)
        return term

    return map_leaves(formula, lambda atom: Atom(atom.relation, rename(atom.subject), rename(atom.object), atom.column))
