"""Clauses from text and from files, one per line, in the language of ``grammar.lark``."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from itertools import count
from pathlib import Path

from clausal.errors import InputError
from clausal.logic.names import has_anonymous, is_anonymous_at
from clausal.logic.place import Misread, place, point_at
from clausal.logic.syntax import Atom, Clause, Formula, Term, Variable, children, map_leaves

_SHOWN = 5
_MOST_COUNTED = 1000  # a large file that holds no clauses at all is refused without reading it to the end
_DEEPEST = 100  # beyond any clause that is meant, and below Python's own limit
_LINE_END = re.compile(r"\r\n|\r|\n")


def parse_clause(text: str) -> Clause:
    """Read one clause."""
    try:
        return Clause(*_parse(text))
    except Misread as misread:
        raise InputError(_report(misread, text, None, None)) from None


def parse_clauses(text: str, source: str | None = None) -> list[Clause]:
    """Read clauses, one per line, with ``%`` and ``#`` comments; ``source`` is named in errors."""
    clauses: list[Clause] = []
    problems: list[str] = []
    for number, line in enumerate(_LINE_END.split(text), start=1):
        content = line.lstrip()
        if not content or content[0] in "%#":
            continue
        try:
            formula, weight = _parse(line)
        except Misread as misread:
            problems.append(_report(misread, line, source, number))
            if len(problems) == _MOST_COUNTED:
                break
        else:
            clauses.append(Clause(formula, weight, source, number))
    if problems:
        raise InputError("\n".join(problems[:_SHOWN] + _rest(len(problems))))
    return clauses


def read_clauses(path: str | os.PathLike[str]) -> list[Clause]:
    """Read a file of clauses, one per line, in UTF-8; a name that ends with ``.gz`` is decompressed."""
    source = os.fspath(path)
    clauses = parse_clauses(_read_text(source), source)
    if not clauses:
        raise InputError(f"{source}: no clauses in this file; write one per line, as in p(X, Y) => q(X, Y)")
    return clauses


def _parse(text: str) -> tuple[Formula, float]:
    from clausal.logic.builder import read  # lark is slow to import, and many commands read no clauses

    formula, weight = read(text)
    _check_depth(formula)
    return (_name_anonymous(formula, text) if has_anonymous(text) else formula), weight


def _check_depth(formula: Formula) -> None:
    level = [formula]
    for _ in range(_DEEPEST):
        level = [child for parent in level for child in children(parent)]
        if not level:
            return
    raise Misread(1, f"a formula nested more than {_DEEPEST} levels deep; write it in a flatter way")


def _name_anonymous(formula: Formula, text: str) -> Formula:
    fresh = (name for name in (f"_{number}" for number in count(1)) if name not in text)

    def rename(term: Term) -> Term:
        if isinstance(term, Variable) and is_anonymous_at(text, term.column or 0):
            return Variable(next(fresh), term.column)
        return term

    return map_leaves(formula, lambda atom: Atom(atom.relation, rename(atom.subject), rename(atom.object), atom.column))


def _report(misread: Misread, text: str, source: str | None, line: int | None) -> str:
    return f"{place(source, line, misread.column)}: {misread.problem}\n{point_at(text, misread.column)}"


def _rest(problems: int) -> list[str]:
    rest = problems - _SHOWN
    if rest <= 0:
        return []
    at_least = "at least " if problems == _MOST_COUNTED else ""
    return [f"and {at_least}{rest} more line{'' if rest == 1 else 's'} that cannot be read"]


def _read_text(source: str) -> str:
    try:
        content = Path(source).read_bytes()
        if source.endswith(".gz"):
            content = gzip.decompress(content)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(f"{source}: not a whole gzip file; compress it again or drop the .gz ending") from None
    except OSError as error:
        raise InputError(f"{source}: cannot read the clauses: {error.strerror or error}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        raise InputError(f"{source}:{line}: not UTF-8 text (byte 0x{byte:02x}); save it as UTF-8") from None
