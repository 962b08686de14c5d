"""The separators of text files of facts: rows as they divide lines, and which one a file has."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from clausal.errors import InputError

TAB, COMMA, SEMICOLON, PIPE, SPACE = "\t", ",", ";", "|", " "
DELIMITER_NAMES = {TAB: "tabs", COMMA: "commas", SEMICOLON: "semicolons", PIPE: "vertical bars", SPACE: "spaces"}
QUOTED = (COMMA, SEMICOLON, PIPE)
"""Separators between which a cell in quotes may hold separators and line ends; between tabs a quote is a character."""

ANY = (TAB, COMMA, SEMICOLON, PIPE, SPACE)
BY_ENDING = {
    "": ANY,
    ".txt": ANY,
    ".tsv": (TAB, COMMA, SEMICOLON, PIPE),
    ".tab": (TAB, COMMA, SEMICOLON, PIPE),
    ".csv": (COMMA, SEMICOLON, TAB, PIPE),
}
"""The separators that a file of an ending may have, the one that the ending promises first."""

SAMPLE_ROWS = 2000
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
_LONGEST_FIELD = 2**31 - 1  # as pyarrow has it; a field of Python's csv ends at 131,072 characters otherwise


@dataclass(frozen=True)
class Row:
    """A row of a text file: its cells, its first line and the line after it."""

    cells: list[str]
    line: int
    after: int


def read_rows(lines: Iterable[str], delimiter: str, quoted: bool, first: int = 1, source: object = "") -> Iterator[Row]:
    """Split lines, which keep their ends, into rows; ``first`` is the number of the first line."""
    if not quoted:
        for number, line in enumerate(lines, start=first):
            yield Row(_split(line.rstrip("\n"), delimiter), number, number + 1)
        return
    reader = csv.reader(lines, delimiter=delimiter)
    usual = csv.field_size_limit(_LONGEST_FIELD)
    start = first
    try:
        for cells in reader:
            yield Row(cells, start, first + reader.line_num)
            start = first + reader.line_num
    except csv.Error as error:
        raise InputError(f"{source}:{start}: not valid CSV: {error}; is a quote left open?") from None
    finally:
        csv.field_size_limit(usual)


def _split(line: str, delimiter: str) -> list[str]:
    return re.split("[ \t]+", line.strip(" \t")) if delimiter == SPACE else line.split(delimiter)


def is_blank(cells: Sequence[str]) -> bool:
    """Say whether a row holds nothing, as the one between two paragraphs."""
    return not "".join(cells).strip()


def separator_line(lines: Sequence[str]) -> tuple[int, str | None]:
    """Return how many lines Excel's ``sep=;`` takes, and the separator that it names."""
    match = _SEPARATOR_LINE.fullmatch(lines[0].rstrip("\n")) if lines else None
    return (1, match[1]) if match and match[1] in DELIMITER_NAMES else (0, None)


def rows_of_sample(lines: Sequence[str], delimiter: str, quoted: bool, first: int = 1) -> list[Row]:
    """Return the first rows, up to one that cannot be read: the reading itself will tell where that is."""
    rows = []
    try:
        for row in read_rows(lines, delimiter, quoted, first):
            rows.append(row)
            if len(rows) == SAMPLE_ROWS:
                break
    except InputError:
        pass
    return rows


def likeliest(path: Path, candidates: Sequence[str], lines: Sequence[str], width: int) -> str:
    """Return the separator under which most of the first lines have the same number of columns, enough of them."""

    def agreement(delimiter: str) -> tuple[float, bool, int]:
        rows = rows_of_sample(lines, delimiter, quoted=delimiter in QUOTED)
        widths = [len(row.cells) for row in rows if not is_blank(row.cells)]
        usual = Counter(found for found in widths if found >= width).most_common(1)
        share = usual[0][1] / len(widths) if usual else 0.0
        return share, bool(usual) and usual[0][0] == width, sum(found > 1 for found in widths)

    scores = {delimiter: agreement(delimiter) for delimiter in candidates}
    best = max(candidates, key=scores.__getitem__)  # the first of equals
    rivals = [other for other in candidates if other not in (best, SPACE) and scores[other][:2] == (1.0, True)]
    if rivals and best != TAB and scores[best][:2] == (1.0, True):
        names = DELIMITER_NAMES[best], DELIMITER_NAMES[rivals[0]]
        shown = "<tab>" if rivals[0] == TAB else rivals[0]
        raise InputError(
            f"{path}: {names[0]} and {names[1]} both make {width} columns of every line; say which it is by a first "
            f"line of its own: sep={best} or sep={shown}"
        )
    return best


def all_in_quotes(lines: Sequence[str], delimiter: str) -> bool:
    """Say whether every cell between tabs is in quotes, as some programs write them."""
    cells = [cell for line in lines[:SAMPLE_ROWS] if line.strip() for cell in line.rstrip("\n").split(TAB)]
    in_quotes = all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells)
    return delimiter == TAB and len(cells) > 2 and in_quotes
