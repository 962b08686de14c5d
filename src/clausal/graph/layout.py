"""How a text file of facts is laid out: encoding, separator, header, and which column is which, by its first lines."""

from __future__ import annotations

import codecs
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clausal.errors import InputError
from clausal.files import bare_name, open_bytes
from clausal.graph.columns import Columns, check_order, find_chosen, find_numbered, recognise
from clausal.graph.contents import refuse_other_formats
from clausal.graph.headers import ask, reason_for_header
from clausal.graph.rdf.syntax import RDF_ENDINGS
from clausal.graph.separators import (
    BY_ENDING,
    QUOTED,
    Row,
    all_in_quotes,
    is_blank,
    likeliest,
    rows_of_sample,
    separator_line,
)

ENDINGS = (*BY_ENDING, *RDF_ENDINGS, ".parquet", ".arrow", ".feather", ".ipc", ".jsonl", ".ndjson", ".json")
"""The endings of files of facts, each of which may be followed by that of a compression, such as ``.gz``."""

_SAMPLE_BYTES = 1 << 16
_MOST_SHOWN = 60


@dataclass(frozen=True)
class Layout:
    """How a text file of facts is laid out.

    ``columns`` has the field of each column of the file, None for those that are not used; ``header`` has the words of
    the header. The first ``skip`` lines hold no facts. ``quoted`` cells may hold separators and line ends.
    Where ``comments`` are allowed, a line that begins with # and is no row is passed over.
    """

    delimiter: str
    columns: tuple[str | None, ...] = ()
    header: tuple[str, ...] | None = None
    skip: int = 0
    quoted: bool = False
    encoding: str = "utf-8-sig"
    comments: bool = True


def stem_and_ending(path: Path) -> tuple[str, str]:
    """Split a file's name into stem and lower-case ending, without that of a compression: ``test-I``, ``.txt``."""
    bare = Path(bare_name(path))
    return bare.stem, bare.suffix.lower()


def find_layout(path: Path, columns: Columns) -> Layout:
    """Find out how a file is laid out; InputError where that is not clear."""
    with open_bytes(path) as stream:
        sample = stream.read(_SAMPLE_BYTES)
    refuse_other_formats(path, sample)
    encoding = _encoding(path, sample)
    lines = io.StringIO(sample.decode(encoding, errors="replace"), newline=None).readlines()
    if len(sample) == _SAMPLE_BYTES and len(lines) > 1:
        lines = lines[:-1]  # the last line is probably cut off
    skip, given = separator_line(lines)
    while skip < len(lines) and _holds_nothing(lines[skip], columns):
        skip += 1
    below, width = lines[skip:], len(columns.fields)
    if not columns.every_line:
        below = [line for line in below if not _holds_nothing(line, columns)] or below
    delimiter = given or likeliest(path, BY_ENDING.get(stem_and_ending(path)[1], BY_ENDING[""]), below, width)
    quoted = delimiter in QUOTED or all_in_quotes(below, delimiter)
    rows = [row for row in rows_of_sample(below, delimiter, quoted, skip + 1) if not is_blank(row.cells)]
    plain = Layout(delimiter, (), None, skip, quoted, encoding, not columns.every_line)
    return _name_columns(path, plain, columns, rows) if rows else _in_order(plain, columns, width)


def _encoding(path: Path, sample: bytes) -> str:
    if sample.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise InputError(f"{path}: the file is UTF-32; save it as UTF-8")
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    zeros = sorted(sample[start::2].count(0) / max(len(sample) // 2, 1) for start in (0, 1))
    if len(sample) >= 16 and zeros[0] < 0.1 and zeros[1] > 0.9:  # every other byte of Latin letters is 0
        raise InputError(f"{path}: the file looks like UTF-16 without a byte order mark; save it as UTF-8")
    return "utf-8-sig"


def _holds_nothing(line: str, columns: Columns) -> bool:
    """Say whether a line is blank or surely a comment; ``#subject relation object`` is a header."""
    if not line.strip():
        return True
    if columns.every_line or not line.startswith("#"):
        return False
    words = re.split(r"[\t,;| ]+", line[1:].strip())
    return recognise(words, columns.fields) is None and (line[1] in " #!\t\n" or len(words) < len(columns.fields))


def _name_columns(path: Path, plain: Layout, columns: Columns, rows: Sequence[Row]) -> Layout:
    first, others = rows[0], rows[1:]
    words = [first.cells[0].removeprefix("#"), *first.cells[1:]] if plain.comments else first.cells
    place, numbers = f"{path}:{first.line}", columns.numbers
    named = not columns.every_line and set(columns.chosen) <= {word.strip() for word in words}
    if columns.chosen and (numbers is None or named):
        return _with_header(plain, columns, find_chosen(words, columns, place), words, first)
    found = None if columns.every_line else recognise(words, columns.fields)
    if found is not None:
        if numbers is None:
            check_order(found, columns, place)
        else:
            found = find_numbered(len(words), columns, place)
        _check_row_names(place, words, others)
        return _with_header(plain, columns, found, words, first)
    if not columns.every_line and len(first.cells) >= len(columns.fields):
        alike = [row.cells for row in others if len(row.cells) == len(first.cells)]
        reason = reason_for_header(first.cells, alike)
        if reason is not None:
            raise ask(place, shown(first.cells, plain.delimiter), first.cells, reason)
    if numbers is not None:
        find_numbered(max(len(row.cells) for row in rows), columns, place)
        width = max(_usual_width(rows), max(numbers) + 1)
        return _with_columns(plain, columns, numbers, width)
    return _in_order(plain, columns, _width_without_ends(rows, len(columns.fields)))


def _usual_width(rows: Sequence[Row]) -> int:
    return Counter(len(row.cells) for row in rows).most_common(1)[0][0]


def _width_without_ends(rows: Sequence[Row], width: int) -> int:
    """Return the width, or more where every row has as many further cells and all of them are empty."""
    usual = _usual_width(rows)
    ends = all(len(row.cells) == usual and is_blank(row.cells[width:]) for row in rows)
    return usual if usual > width and ends else width


def _check_row_names(place: str, words: Sequence[str], others: Sequence[Row]) -> None:
    """Refuse the tables of R, where rows have names and the header has none for that column."""
    if others and all(len(row.cells) == len(words) + 1 for row in others):
        raise InputError(
            f"{place}: the header names {len(words)} columns, and the lines below have {len(words) + 1}; if the first "
            "one numbers the rows, give it a name in the header, such as 'row' (in R: write it with row.names=FALSE)"
        )


def _with_header(plain: Layout, columns: Columns, found: Sequence[int], words: Sequence[str], row: Row) -> Layout:
    layout = _with_columns(plain, columns, found, len(words))
    return replace(layout, header=tuple(words), skip=row.after - 1)


def _in_order(plain: Layout, columns: Columns, width: int) -> Layout:
    return _with_columns(plain, columns, tuple(columns.order.index(field) for field in columns.fields), width)


def _with_columns(plain: Layout, columns: Columns, found: Sequence[int], width: int) -> Layout:
    fields = dict(zip(found, columns.fields, strict=True))
    return replace(plain, columns=tuple(fields.get(place) for place in range(width)))


def shown(cells: Sequence[str], delimiter: str) -> str:
    """Return a row as it is shown in a message, shortened."""
    line = delimiter.join(cells)
    return line if len(line) <= _MOST_SHOWN else line[:_MOST_SHOWN] + "…"
