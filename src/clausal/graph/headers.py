"""Whether the first line of a text file names its columns.

A header with usual names is recognised. Where a line looks like one but does not say which column is which, the user is
asked: a header that is taken for a fact is trained on, and a fact that is taken for a header is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from clausal.errors import InputError
from clausal.graph.columns import recognised_words, way_out

_ROWS_FOR_TYPES = 3
_ROWS_FOR_COUNTS = 20
_SIGNS: dict[str, Callable[[str], bool]] = {
    "holds a digit": lambda cell: any(character.isdigit() for character in cell),
    "holds a slash": lambda cell: "/" in cell,
    "holds a colon": lambda cell: ":" in cell,
}


def reason_for_header(first: Sequence[str], others: Sequence[Sequence[str]]) -> str | None:
    """Say why the first row looks like names of columns, or None; ``others`` are rows as long as the first.

    A row with a name that stands in the same column again is a fact: names of columns do not.
    """
    columns = list(zip(*others, strict=True))
    if any(cell in column for cell, column in zip(first, columns, strict=False)):
        return None
    if len({cell.strip().casefold() for cell in first}) < len(first):
        return None  # two columns are hardly ever called the same
    known = recognised_words(first)
    if known:
        return f"{_quoted(known)} {'is a usual name of a column' if len(known) == 1 else 'are usual names of columns'}"
    if len(others) >= _ROWS_FOR_TYPES:
        for number, (cell, column) in enumerate(zip(first, columns, strict=True), start=1):
            for words, sign in _SIGNS.items():
                if all(map(sign, column)) and not any(map(sign, first)):
                    return f"every name below it in column {number} {words}, and '{cell}' does not"
    plain = not any(sign(cell) for cell in first for sign in _SIGNS.values())
    if len(others) >= _ROWS_FOR_COUNTS and plain and _is_odd_one_out(first, columns):
        return f"none of its names occurs again in {len(others)} lines, while every relation below it does"
    return None


def _is_odd_one_out(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Say whether some column repeats each of its values but the first, and no name of the first row occurs again."""
    everywhere = {cell for column in columns for cell in column}
    if everywhere & {*first}:
        return False
    return any(min(Counter(column).values()) > 1 for column in columns)


def ask(place: str, line: str, cells: Sequence[str], reason: str) -> InputError:
    """Ask whether a line is a header: what it is, why it looks like one, and the two ways on."""
    return InputError(
        f"{place}: is this a header? {line!r}: {reason}. If it is, name the columns of subject, relation and object in "
        f"that order: {way_out(cells)}; if it is a fact: --header no"
    )


def _quoted(words: Sequence[str]) -> str:
    return " and ".join(f"'{word}'" for word in words)
