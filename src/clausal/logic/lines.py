"""Files of clauses, line by line: their text, the places of mistakes in it, and writing them.

A mistake is reported as ``file:line:column`` with the line itself and a caret under the spot.
"""

from __future__ import annotations

import gc
import gzip
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from clausal.errors import InputError, RunError
from clausal.logic.syntax import Clause

LINE_END = re.compile(r"\r\n|\r|\n")

_WIDEST_LINE = 100
_SHOWN_PROBLEMS = 5
_MOST_PROBLEMS = 1000  # a large file that holds no clauses at all is refused without reading it to the end


class Misread(Exception):  # noqa: N818  (never leaves the parser: it becomes an InputError that names the file)
    """What is wrong with the text of one clause, and at which column, counted from 1."""

    def __init__(self, column: int, problem: str) -> None:
        super().__init__(problem)
        self.column = column
        self.problem = problem


def place(source: str | None, line: int | None, column: int | None) -> str:
    """Write a place as ``file:line:column``, or in words where the clause is not from a file."""
    if source is not None:
        return ":".join(str(part) for part in (source, line, column) if part is not None)
    words = [f"{word} {number}" for word, number in (("line", line), ("column", column)) if number is not None]
    return ", ".join(words)


def describe_misread(misread: Misread, text: str, source: str | None, line: int | None) -> str:
    """Say what is wrong and where, and show the text with a caret under the spot."""
    return f"{place(source, line, misread.column)}: {misread.problem}\n{point_at(text, misread.column)}"


def point_at(text: str, column: int) -> str:
    """Return the text with a caret under the column, indented; a long text is cut around that spot."""
    start = max(0, column - 1 - _WIDEST_LINE // 2) if len(text) > _WIDEST_LINE else 0
    end = start + _WIDEST_LINE
    before = ("…" if start else "") + text[start : column - 1]
    shown = before + text[column - 1 : end] + ("…" if end < len(text) else "")
    # Anything that moves the cursor would part the caret from its spot; tabs are kept in both lines.
    caret = "".join("\t" if character == "\t" else " " for character in before) + "^"
    return f"    {''.join(map(_visible, shown)).rstrip()}\n    {caret}"


def _visible(character: str) -> str:
    return character if character.isprintable() or character == "\t" else " "


def read_text(source: str) -> str:
    """Return the text of a file in UTF-8; a name that ends with ``.gz`` is decompressed."""
    try:
        content = Path(source).read_bytes()
        if source.endswith(".gz"):
            content = gzip.decompress(content)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(f"{source}: not a whole gzip file; compress it again or drop the .gz ending") from None
    except IsADirectoryError:
        raise InputError(f"{source}: a folder; expected a file of clauses") from None
    except OSError as error:
        raise InputError(f"{source}: cannot read the clauses: {error.strerror or error}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        raise InputError(f"{source}:{line}: not UTF-8 text (byte 0x{byte:02x}); save it as UTF-8") from None


def read_beginning(source: str, size: int = 1 << 16) -> str:
    """Return the first part of a file's text, whatever its encoding; a file that cannot be read is an InputError."""
    try:
        with gzip.open(source) if source.endswith(".gz") else Path(source).open("rb") as stream:
            return stream.read(size).decode("utf-8-sig", errors="replace")
    except (OSError, EOFError, zlib.error):
        return read_text(source)  # which says what is wrong with it


def read_lines(text: str, source: str | None, read: Callable[[str, int], Clause | None]) -> list[Clause]:
    """Read each line with ``read``, which gets the line and its number and may return None for no clause.

    Each ``Misread`` becomes a part of one ``InputError`` that names its place; the first five are shown in full.
    """
    clauses: list[Clause] = []
    problems: list[str] = []
    with _without_garbage_collection():
        for number, line in enumerate(LINE_END.split(text), start=1):
            try:
                clause = read(line, number)
            except Misread as misread:
                problems.append(describe_misread(misread, line, source, number))
                if len(problems) == _MOST_PROBLEMS:
                    break
            else:
                if clause is not None:
                    clauses.append(clause)
    if problems:
        raise InputError("\n".join(problems[:_SHOWN_PROBLEMS] + _more_problems(len(problems))))
    return clauses


def _more_problems(problems: int) -> list[str]:
    rest = problems - _SHOWN_PROBLEMS
    if rest <= 0:
        return []
    at_least = "at least " if problems == _MOST_PROBLEMS else ""
    return [f"and {at_least}{rest} more line{'' if rest == 1 else 's'} that cannot be read"]


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause the search for reference cycles: clauses have none, and it would walk over all of them ever again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file, which appears when it is whole; where a line cannot be made, nothing is left behind."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
        temporary.replace(path)
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror or error}; nothing was left behind") from None
    finally:
        temporary.unlink(missing_ok=True)


def check_new_file(path: Path) -> None:
    """Refuse a file that is there already, as someone may have pruned it by hand, and a folder that is not there."""
    if path.exists():
        raise InputError(f"{path}: exists already; choose another file, or remove this one")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")
