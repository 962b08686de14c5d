"""How a file of facts is laid out: its format, by its ending or its first lines, and the order of its columns.

The order is given as a string such as ``sro``, or by a header that names the columns.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clausal.errors import InputError
from clausal.files import is_gzip, open_bytes

TAB, COMMA, SPACE = "\t", ",", " "
DELIMITER_NAMES = {TAB: "tabs", COMMA: "commas", SPACE: "spaces"}

_TEXT = {"": None, ".txt": None, ".tsv": TAB, ".tab": TAB, ".csv": COMMA}
ENDINGS = (*_TEXT, ".nt", ".parquet")
"""The endings of files of facts, each of which may be followed by ``.gz``."""

_SAMPLE_BYTES = 1 << 16
_SAMPLE_LINES = 20

_LETTERS = {"s": "subject", "r": "relation", "o": "object"}
_HEADER_WORDS = {
    "subject": "subject",
    "head": "subject",
    "source": "subject",
    "relation": "relation",
    "predicate": "relation",
    "object": "object",
    "tail": "object",
    "target": "object",
    "label": "label",
}


def parse_columns(columns: str, *, labelled: bool = False) -> tuple[str, ...]:
    """Return the columns' names in file order; ``columns`` is a permutation of the letters s, r, o."""
    if sorted(columns) != sorted(_LETTERS):
        raise InputError(
            f"columns '{columns}' is not an order of subject, relation and object; expected the letters "
            "s, r, o once each, such as 'sro' or 'sor'"
        )
    fields = tuple(_LETTERS[letter] for letter in columns)
    return (*fields, "label") if labelled else fields


def field_named(word: str) -> str | None:
    """Return which column a header's word names: ``head`` names the subject, ``predicate`` the relation."""
    return _HEADER_WORDS.get(word.strip().casefold())


def header_fields(cells: Sequence[str], width: int) -> tuple[str, ...] | None:
    """Return the columns' names in file order if ``cells`` is a header that names all ``width`` of them."""
    fields = [field for field in map(field_named, cells) if field]
    expected = {*_LETTERS.values(), "label"} if width == 4 else {*_LETTERS.values()}
    return tuple(fields) if len(cells) == len(fields) == width and set(fields) == expected else None


@dataclass(frozen=True)
class Layout:
    """How a text file of facts is laid out: its delimiter, and its header's columns if it has a header."""

    delimiter: str
    header: tuple[str, ...] | None = None


def stem_and_ending(path: Path) -> tuple[str, str]:
    """Split a file's name into stem and lower-case ending, without ``.gz``: ``test-I`` and ``.txt``."""
    name = path.name[:-3] if is_gzip(path) else path.name
    bare = Path(name)
    return bare.stem, bare.suffix.lower()


def split_line(line: str, delimiter: str) -> list[str]:
    """Split one line into cells, as the fast reader does."""
    if delimiter == COMMA:
        return next(csv.reader([line]), [])
    if delimiter == SPACE:
        return re.split("[ \t]+", line.strip(" \t"))
    return line.split(delimiter)


def find_layout(path: Path, width: int) -> Layout:
    """Find the delimiter under which most of the first lines have ``width`` columns, and the header."""
    with open_bytes(path) as stream:
        sample = stream.read(_SAMPLE_BYTES)
    text = io.StringIO(sample.decode("utf-8-sig", errors="replace"), newline=None)
    lines = [line.rstrip("\n") for line in text.readlines(_SAMPLE_BYTES)]
    if len(sample) == _SAMPLE_BYTES and len(lines) > 1:
        lines = lines[:-1]  # the last line is probably cut off
    filled = [line for line in lines if line.strip()][:_SAMPLE_LINES]
    delimiter = _TEXT.get(stem_and_ending(path)[1]) or _likeliest_delimiter(filled, width)
    header = header_fields(split_line(lines[0], delimiter), width) if lines else None
    return Layout(delimiter, header)


def _likeliest_delimiter(lines: Sequence[str], width: int) -> str:
    def agreement(delimiter: str) -> tuple[int, int]:
        widths = [len(split_line(line, delimiter)) for line in lines]
        return sum(found == width for found in widths), sum(found > 1 for found in widths)

    return max((TAB, COMMA, SPACE), key=agreement)  # the first of equals
