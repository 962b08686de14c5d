"""Files of clauses, line by line: reading them, the places of mistakes in them, and writing them.

A mistake is reported as ``file:line:column`` with the line itself and a caret under the spot.
"""

from __future__ import annotations

import gc
import re
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from clausal.errors import InputError
from clausal.files import READING_ERRORS, atomic_file, cannot_read, check_file_target, open_bytes
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


def read_beginning(path: Path, size: int = 1 << 16) -> str:
    """Return the first part of a file's text, whatever its encoding; a file that cannot be read is an InputError."""
    try:
        with open_bytes(path) as stream:
            return stream.read(size).decode("utf-8-sig", errors="replace")
    except READING_ERRORS as error:
        raise cannot_read(path, error) from None


def read_lines(
    text: str,
    source: str | None,
    read: Callable[[str, int], Clause | None],
    *,
    least_read: float = 1.0,
    tell: Callable[[str], None] | None = None,
) -> list[Clause]:
    """Read each line with ``read``, which gets the line and its number and may return None for no clause.

    Each ``Misread`` becomes a part of one ``InputError`` that names its place; the first five are shown in full. Where
    at least the share ``least_read`` of the clauses can be read, that is a sentence for ``tell`` in place of an error.
    """
    clauses: list[Clause] = []
    problems: list[str] = []
    with _PAUSED_GARBAGE_COLLECTION:
        for number, line in enumerate(LINE_END.split(text), start=1):
            try:
                clause = read(line, number)
            except Misread as misread:
                problems.append(describe_misread(misread, line, source, number))
                if len(problems) >= _MOST_PROBLEMS and (least_read == 1 or len(problems) > len(clauses)):
                    break
            else:
                if clause is not None:
                    clauses.append(clause)
    if problems:
        shown = "\n".join(problems[:_SHOWN_PROBLEMS] + _more_problems(len(problems)))
        if len(clauses) < least_read * (len(clauses) + len(problems)):
            fine = f"\n{_count(len(clauses), 'line')} can be read" if least_read < 1 and clauses else ""
            raise InputError(shown + fine)
        if tell is not None:
            tell(f"{source}: {_count(len(problems), 'rule')} of {len(clauses) + len(problems):,} left out:\n{shown}")
    return clauses


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _more_problems(problems: int) -> list[str]:
    rest = problems - _SHOWN_PROBLEMS
    if rest <= 0:
        return []
    at_least = "at least " if problems == _MOST_PROBLEMS else ""
    return [f"and {at_least}{rest} more line{'' if rest == 1 else 's'} that cannot be read"]


class _PausedGarbageCollection:
    """Pauses the search for reference cycles: clauses have none, and it would walk over all of them ever again.

    The switch is one for the whole process. So uses are counted: the first of several threads that read at the same
    time turns it off, and the last one turns it on again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses = 0
        self._was_enabled = False

    def __enter__(self) -> None:
        with self._lock:
            if not self._uses:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._uses += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._uses -= 1
            if not self._uses and self._was_enabled:
                gc.enable()


_PAUSED_GARBAGE_COLLECTION = _PausedGarbageCollection()


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file, which appears when it is whole; where a line cannot be made, nothing is left behind."""
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def check_new_file(path: Path) -> None:
    """Refuse a file that is there already, as someone may have pruned it by hand, and a folder that is not there."""
    check_file_target(path)
    if path.exists():
        raise InputError(f"{path}: exists already; choose another file, or remove this one")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")
