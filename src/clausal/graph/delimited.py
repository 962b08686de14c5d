"""Facts from text with tabs, commas (RFC quoting) or spaces, read by pyarrow without a loop over lines.

Where pyarrow refuses a file, ``explain`` scans it line by line in Python and names the first line that is wrong.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clausal.errors import InputError
from clausal.files import READING_ERRORS, cannot_read, is_gzip, open_bytes
from clausal.graph.layout import COMMA, DELIMITER_NAMES, SPACE, Layout, find_layout, split_line

Complaint = Callable[[Mapping[str, str]], str | None]
"""What is wrong with a row, given by column name, or None."""

_BLOCK_BYTES = 8 << 20
_UNDECODABLE = re.compile("[\udc80-\udcff]")
_MOST_SHOWN = 60
_LONGEST_FIELD = 2**31 - 1  # as pyarrow has it; a field of Python's csv ends at 131,072 characters otherwise


def text_layout(path: Path, width: int) -> Layout:
    """Return the layout of a text file; a file that cannot be opened is an InputError."""
    try:
        return find_layout(path, width)
    except READING_ERRORS as error:
        raise cannot_read(path, error) from None


def read_delimited(path: Path, fields: Sequence[str]) -> Any:
    """Return a pyarrow table with one column of names for each of ``fields``."""
    import pyarrow as pa

    layout = text_layout(path, len(fields))
    try:
        table = _parse(path, layout, layout.header or fields)
    except MemoryError:
        raise
    except (pa.ArrowException, *READING_ERRORS):
        raise explain(path, layout, layout.header or fields) from None
    if table.num_rows == 0 or any(_has_empty(column) for column in table.columns):
        raise explain(path, layout, layout.header or fields)
    return table


def _parse(path: Path, layout: Layout, fields: Sequence[str]) -> Any:
    import pyarrow as pa

    try:
        return _read(path, layout, fields)
    except pa.ArrowInvalid:
        if not _is_utf8(path):  # pyarrow could not hand the bad row to Python, and would print that on stderr
            raise
        return _read(path, layout, fields, skip_spaces=True)


def _read(path: Path, layout: Layout, fields: Sequence[str], *, skip_spaces: bool = False) -> Any:
    """Read with pyarrow; ``skip_spaces`` passes over lines of spaces, which are as blank as the empty ones it skips.

    The threads that read hold on to a Python callback for a moment after the reading, and a process that ends within
    that moment is aborted. So there is none unless it is needed, and then no threads.
    """
    import pyarrow as pa
    from pyarrow import csv

    quoted = layout.delimiter == COMMA
    with _open(path, layout) as stream:
        return csv.read_csv(
            stream,
            read_options=csv.ReadOptions(
                column_names=list(fields),
                block_size=_BLOCK_BYTES,
                skip_rows=1 if layout.header else 0,
                use_threads=not skip_spaces,
            ),
            parse_options=csv.ParseOptions(
                delimiter=layout.delimiter,
                quote_char='"' if quoted else False,
                newlines_in_values=quoted,
                invalid_row_handler=_skip_spaces if skip_spaces else None,
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(fields, pa.string()), strings_can_be_null=False
            ),
        )


def _skip_spaces(row: Any) -> str:
    return "error" if row.text.strip() else "skip"


def _is_utf8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with open_bytes(path) as stream:
            while block := stream.read(_BLOCK_BYTES):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _open(path: Path, layout: Layout) -> Any:
    import pyarrow as pa

    if layout.delimiter != SPACE:
        return pa.input_stream(str(path), compression="gzip" if is_gzip(path) else None)
    with open_bytes(path) as stream:
        content = stream.read()
    content = re.sub(rb"[ \t]+", b" ", content)
    content = re.sub(rb" ?([\r\n]) ?", rb"\1", content).strip(b" ")
    return pa.BufferReader(content)


def _has_empty(column: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.min(pc.binary_length(column)).as_py() == 0)


def explain(path: Path, layout: Layout, fields: Sequence[str], complaint: Complaint | None = None) -> InputError:
    """Scan for the first line that is not UTF-8, has other columns than ``fields``, or a complaint."""
    expected = f"expected {len(fields)} ({', '.join(fields)}) separated by {DELIMITER_NAMES[layout.delimiter]}"
    found_rows = False
    long_line = None
    try:
        for line, cells in rows(path, layout, len(fields)):
            found_rows = True
            if len(cells) != len(fields):
                count = f"{len(cells)} column{'' if len(cells) == 1 else 's'}"
                hint = "; is a quote left open?" if any("\n" in cell for cell in cells) else ""
                return InputError(f"{path}:{line}: {count}, {expected}: {_shown(layout, cells)}{hint}")
            if long_line is None and sum(map(len, cells)) > _BLOCK_BYTES // 4:  # a character has up to four bytes
                long_line = line
            empty = [field for field, cell in zip(fields, cells, strict=True) if not cell]
            if empty:
                return InputError(f"{path}:{line}: the {empty[0]} is empty: {_shown(layout, cells)}")
            found = complaint(dict(zip(fields, cells, strict=True))) if complaint else None
            if found:
                return InputError(f"{path}:{line}: {found}")
    except InputError as error:
        return error
    except READING_ERRORS as error:
        return cannot_read(path, error)
    if not found_rows:
        return InputError(f"{path}: the file holds no facts; expected one per line: {', '.join(fields)}")
    if long_line is not None:
        return InputError(f"{path}:{long_line}: the line is too long; expected names of some megabytes at most")
    return InputError(f"{path}: cannot be read as facts, one per line: {', '.join(fields)}")


def rows(path: Path, layout: Layout, width: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of every row; header and blank lines are left out."""
    with open_bytes(path) as stream:
        # Undecodable bytes become lone surrogates, which tell the line and the byte.
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline=None)
        lines = _checked_lines(path, text)
        records = _csv_records(path, lines) if layout.delimiter == COMMA else _plain_records(lines, layout)
        for line, cells in records:
            blank = len(cells) != width and not "".join(cells).strip()
            is_header = layout.header is not None and line == 1
            if not (blank or is_header):
                yield line, cells


def _plain_records(lines: Iterator[str], layout: Layout) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, start=1):
        yield number, split_line(line.rstrip("\n"), layout.delimiter)


def _csv_records(path: Path, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines)
    start = 1
    usual = csv.field_size_limit(_LONGEST_FIELD)
    try:
        for cells in reader:
            yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}:{start}: not valid CSV: {error}; is a quote left open?") from None
    finally:
        csv.field_size_limit(usual)


def _checked_lines(path: Path, text: io.TextIOWrapper) -> Iterator[str]:
    for number, line in enumerate(text, start=1):
        bad = _UNDECODABLE.search(line)
        if bad:
            byte = ord(bad.group()) - 0xDC00
            column = len(line[: bad.start()].encode("utf-8", "surrogateescape")) + 1
            hint = "; is it UTF-16?" if number == 1 and column == 1 and byte in (0xFE, 0xFF) else ""
            raise InputError(
                f"{path}:{number}: byte {column} of the line (0x{byte:02x}) is not UTF-8{hint}; save the file as UTF-8"
            )
        yield line


def _shown(layout: Layout, cells: Sequence[str]) -> str:
    line = layout.delimiter.join(cells)
    return repr(line if len(line) <= _MOST_SHOWN else line[:_MOST_SHOWN] + "…")
