"""What is wrong with a text file of facts: a slow, plain scan that names the first bad line."""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from gzip import BadGzipFile
from pathlib import Path

from clausal.errors import InputError
from clausal.graph.formats import COMMA, DELIMITER_NAMES, Layout, open_bytes, split_line

Complaint = Callable[[Mapping[str, str]], str | None]
"""What is wrong with a row, given by column name, or None."""

_UNDECODABLE = re.compile("[\udc80-\udcff]")
_MOST_SHOWN = 60


def cannot_read(path: Path, error: BaseException) -> InputError:
    """Explain a file that cannot be opened or decompressed."""
    if isinstance(error, EOFError):
        return InputError(f"{path}: the gzip file ends too early; copy or download it again")
    if isinstance(error, (BadGzipFile, zlib.error)):
        return InputError(f"{path}: not a gzip file, or a damaged one ({error}); copy or download it again")
    if isinstance(error, FileNotFoundError):
        return InputError(f"{path}: no such file")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).split("\n")[0]
    return InputError(f"{path}: cannot be read: {reason}")


def explain(path: Path, layout: Layout, fields: Sequence[str], complaint: Complaint | None = None) -> InputError:
    """Scan for the first line that is not UTF-8, has other columns than ``fields``, or a complaint."""
    expected = f"expected {len(fields)} ({', '.join(fields)}) separated by {DELIMITER_NAMES[layout.delimiter]}"
    found_rows = False
    try:
        for line, cells in rows(path, layout, len(fields)):
            found_rows = True
            if len(cells) != len(fields):
                count = f"{len(cells)} column{'' if len(cells) == 1 else 's'}"
                return InputError(f"{path}:{line}: {count}, {expected}: {_shown(layout, cells)}")
            empty = [field for field, cell in zip(fields, cells, strict=True) if not cell]
            if empty:
                return InputError(f"{path}:{line}: the {empty[0]} is empty: {_shown(layout, cells)}")
            found = complaint(dict(zip(fields, cells, strict=True))) if complaint else None
            if found:
                return InputError(f"{path}:{line}: {found}")
    except InputError as error:
        return error
    except (OSError, EOFError, zlib.error) as error:
        return cannot_read(path, error)
    if not found_rows:
        return InputError(f"{path}: the file holds no facts; expected one per line: {', '.join(fields)}")
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
    try:
        for cells in reader:
            yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}:{start}: not valid CSV: {error}; is a quote left open?") from None


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
