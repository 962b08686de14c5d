"""The first line of a text file of facts that is wrong, found line by line in Python after pyarrow refused the file."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from clausal.errors import InputError
from clausal.files import READING_ERRORS, cannot_read, open_bytes
from clausal.graph.layout import Layout, shown
from clausal.graph.separators import DELIMITER_NAMES, SPACE, Row, is_blank, read_rows

Complaint = Callable[[Mapping[str, str]], str | None]
"""What is wrong with a row, given by column name, or None."""

LONGEST_LINE = 8 << 20
"""Bytes that a line can have, those that pyarrow parses at a time."""

_UNDECODABLE = re.compile("[\udc80-\udcff]")


def explain(path: Path, layout: Layout, fields: Sequence[str], complaint: Complaint | None = None) -> InputError:
    """Scan for the first line that is not UTF-8, has other columns than the layout, or a complaint."""
    width = len(layout.columns)
    named = ", ".join(fields if layout.header is None else layout.header)
    expected = f"expected {width} ({named}) separated by {DELIMITER_NAMES[layout.delimiter]}"
    found_rows = False
    long_line = None
    try:
        for row in rows(path, layout):
            found_rows = True
            cells = row.cells
            if len(cells) != width:
                count = f"{len(cells)} column{'' if len(cells) == 1 else 's'}"
                hint = _hint(layout, cells)
                return InputError(f"{path}:{row.line}: {count}, {expected}: {shown(cells, layout.delimiter)!r}{hint}")
            if long_line is None and sum(map(len, cells)) > LONGEST_LINE // 4:  # a character has up to four bytes
                long_line = row.line
            by_field = {field: cell for field, cell in zip(layout.columns, cells, strict=True) if field}
            empty = [field for field in fields if not by_field[field]]
            if empty:
                text = repr(shown(cells, layout.delimiter))
                return InputError(f"{path}:{row.line}: the {empty[0]} is empty: {text}")
            found = complaint(by_field) if complaint else None
            if found:
                return InputError(f"{path}:{row.line}: {found}")
    except InputError as error:
        return error
    except READING_ERRORS as error:
        return cannot_read(path, error)
    if not found_rows:
        only = "; its only line was read as a header, which --header no denies" if layout.header is not None else ""
        return InputError(f"{path}: the file holds no facts; expected one per line: {', '.join(fields)}{only}")
    if long_line is not None:
        return InputError(f"{path}:{long_line}: the line is too long; expected names of some megabytes at most")
    return InputError(f"{path}: cannot be read as facts, one per line: {', '.join(fields)}")


def _hint(layout: Layout, cells: Sequence[str]) -> str:
    if any("\n" in cell for cell in cells):
        return "; is a quote left open?"
    if layout.header is None and len(cells) > len(layout.columns) and layout.delimiter != SPACE:
        return "; if all lines have so many, choose columns by number, such as --columns 1,2,3, or by a header"
    return ""


def rows(path: Path, layout: Layout) -> Iterator[Row]:
    """Yield every row of facts; header, blank lines and comments are left out."""
    width = len(layout.columns)
    with open_bytes(path) as stream:
        # Undecodable bytes become lone surrogates, which tell the line and the byte.
        errors = "strict" if layout.encoding == "utf-16" else "surrogateescape"
        text = io.TextIOWrapper(stream, encoding=layout.encoding, errors=errors, newline=None)
        lines = _checked_lines(path, text)
        for _ in range(layout.skip):
            next(lines, None)
        try:
            for row in read_rows(lines, layout.delimiter, layout.quoted, layout.skip + 1, path):
                other = len(row.cells) != width
                comment = layout.comments and bool(row.cells) and row.cells[0].startswith("#")
                if not (other and (comment or is_blank(row.cells))):
                    yield row
        except UnicodeDecodeError:
            raise not_utf16(path) from None


def not_utf16(path: Path) -> InputError:
    """Say that a file begins as UTF-16 and does not go on so."""
    return InputError(f"{path}: not valid UTF-16; save the file as UTF-8")


def _checked_lines(path: Path, text: io.TextIOWrapper) -> Iterator[str]:
    for number, line in enumerate(text, start=1):
        bad = _UNDECODABLE.search(line)
        if bad:
            byte = ord(bad.group()) - 0xDC00
            column = len(line[: bad.start()].encode("utf-8", "surrogateescape")) + 1
            raise InputError(
                f"{path}:{number}: byte {column} of the line (0x{byte:02x}) is not UTF-8{_other_encoding(line)}; "
                "save the file as UTF-8 (in Excel: 'CSV UTF-8')"
            )
        yield line


def _other_encoding(line: str) -> str:
    """Show the word with the byte as Western Europe's old encodings have it, where that can be shown."""
    word = next(word for word in line.split() if _UNDECODABLE.search(word))
    try:
        read = word.encode("utf-8", "surrogateescape").decode("cp1252")
    except UnicodeDecodeError:
        return ""
    return f"; it would be {read[:40]!r} in Windows-1252 or Latin-1" if read.isprintable() else ""
