"""A file of rules as a format sees it, and what the readers and writers of formats share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from clausal.errors import InputError
from clausal.files import bare_name
from clausal.logic.lines import LINE_END, Misread, place, read_lines
from clausal.logic.shape import horn_parts
from clausal.logic.syntax import Atom, Clause, Falsum, Formula, Variable

Tell = Callable[[str], None]
"""Called with sentences a user should read, such as how many conditions were left out."""

X, Y, Z = Variable("X"), Variable("Y"), Variable("Z")

_BEGINNING = 1 << 16
_FIRST_LINES = 50
_LONGEST_ID = 18
_LEAST_READ = 0.9  # share of a mined file's lines; with less it is probably of another format
LARGEST_COUNT = 10**18


def tell_nobody(_: str) -> None:
    """Drop the sentence."""


@dataclass(frozen=True)
class RuleFile:
    """The text of a file, its path, and the relations' names by id for formats that write ids."""

    source: str
    text: str
    names: Sequence[str] | None = None
    tell: Tell = tell_nobody

    @property
    def stem(self) -> str:
        """The file's name without endings: ``axiom_inverse`` for ``axiom_inverse.txt.gz``."""
        return Path(self.source).name.partition(".")[0]

    @property
    def ending(self) -> str:
        """The ending in lower case, without that of a compression: ``.ttl`` for ``brick.ttl.zst``."""
        return Path(bare_name(Path(self.source))).suffix.lower()

    @cached_property
    def beginning(self) -> str:
        """The first part of the text, by which a format is recognised."""
        return self.text[:_BEGINNING]

    @cached_property
    def first_lines(self) -> list[str]:
        """The first lines of the text that are not blank."""
        lines = LINE_END.split(self.beginning)
        if len(self.beginning) == _BEGINNING:
            del lines[-1]  # probably cut off
        return list(islice(filter(str.strip, lines), _FIRST_LINES))


def weighted_clause(
    formula: Formula,
    source: str | None,
    line: int | None,
    confidence: float | None = None,
    support: int | None = None,
) -> Clause:
    """Return a clause whose weight is its confidence, or 1 where there is none."""
    return Clause(formula, 1.0 if confidence is None else confidence, source, line, confidence, support)


def read_mined_lines(file: RuleFile, read: Callable[[str, int], Clause | None]) -> list[Clause]:
    """Read lines as ``read_lines`` does; of a program's many rules, a few that cannot be read are told and left out."""
    return read_lines(file.text, file.source, read, least_read=_LEAST_READ, tell=file.tell)


def read_confidence(text: str, column: int) -> float:
    """Read a confidence, with a decimal point or a decimal comma, or in per cent."""
    try:
        number, percent, _ = text.strip().partition("%")
        value = float(number.replace(",", ".")) / (100 if percent else 1)
    except ValueError:
        raise Misread(column, f"a confidence is a number, as in 0.9, not '{text.strip()}'") from None
    if not (math.isfinite(value) and value >= 0):
        raise Misread(column, f"a confidence must be a finite number of at least 0, not {text.strip()}")
    return value


def read_count(text: str, column: int) -> int:
    """Read a count; some programs write it as ``12.0`` or ``12,0``."""
    value: float
    try:
        value = int(text) if len(text) <= _LONGEST_ID else float(text)
    except ValueError:
        try:
            value = float(text.strip().replace(",", "."))
        except ValueError:
            value = math.nan
    if not (math.isfinite(value) and value >= 0 and value == int(value)):
        raise Misread(column, f"a count is a whole number, not '{text.strip()}'")
    if value > LARGEST_COUNT:
        raise Misread(column, f"a count is at most {LARGEST_COUNT:,}, not '{text.strip()}'")
    return int(value)


def read_id(text: str) -> int | None:
    """Read an id in decimal digits, or return None; one of very many digits is none."""
    return int(text) if text.isdecimal() and len(text) <= _LONGEST_ID else None


def horn_parts_of(clause: Clause, format: str) -> tuple[tuple[Atom, ...], Atom | Falsum]:
    """Return body and head; a clause that is not a Horn clause is an error."""
    parts = horn_parts(clause)
    if parts is None:
        raise cannot_write(clause, f"{format} has Horn clauses only")
    return parts


def cannot_write(clause: Clause, reason: str) -> InputError:
    """Say which clause a format cannot hold and why."""
    where = place(clause.source, clause.line, None)
    return InputError(
        f"{f'{where}: ' if where else ''}cannot write '{clause}': {reason}; "
        "leave this clause out or write the format 'clausal'"
    )
