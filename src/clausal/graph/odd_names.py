"""Names that are hardly meant as they stand: spaces around them, and what programs write for a missing value."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from clausal.errors import InputError

MISSING = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "<NA>", "\\N")
_PERHAPS_MISSING = ("N/A", "NA", "NULL", "NaN", "NaT", "None", "n/a", "nan", "null", "none")


def padded(names: Any) -> list[str]:
    """Return the names of a pyarrow array that have spaces around them."""
    import pyarrow.compute as pc

    return names.filter(pc.not_equal(pc.utf8_trim_whitespace(names), names)).to_pylist()


def trimmed(table: Any) -> Any:
    """Return a table of names without spaces around them; a name of spaces alone is an InputError."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = {name: pc.utf8_trim_whitespace(table.column(name)) for name in table.column_names}
    for name, column in columns.items():
        blank = pc.index(column, "").as_py()
        if blank >= 0:
            raise InputError(f"fact {blank + 1}: the {name} is nothing but spaces")
    return pa.table(columns)


def note_on_spaces(names: Sequence[str]) -> str:
    """Say that spaces were taken off."""
    many = "1 name" if len(names) == 1 else f"{len(names):,} names"
    return f"the spaces around {many} were taken off, such as those of {names[0]!r}"


def missing_values(names: Sequence[str]) -> list[str]:
    """Refuse sorted names that stand for missing values only, and return those that may be meant as names."""
    for word in MISSING:
        if _holds(names, word):
            raise InputError(
                f"'{word}' stands for a missing value, not for a name; take the rows with it out of the facts"
            )
    return [word for word in _PERHAPS_MISSING if _holds(names, word)]


def _holds(names: Sequence[str], word: str) -> bool:
    place = bisect_left(names, word)
    return place < len(names) and names[place] == word
