"""Places in clauses: ``file:line:column``, and the line itself with a caret under the spot."""

from __future__ import annotations

_WIDEST = 100


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


def point_at(text: str, column: int) -> str:
    """Return the text with a caret under the column, indented; a long text is cut around that spot."""
    start = max(0, column - 1 - _WIDEST // 2) if len(text) > _WIDEST else 0
    end = start + _WIDEST
    before = ("…" if start else "") + text[start : column - 1]
    shown = before + text[column - 1 : end] + ("…" if end < len(text) else "")
    # Anything that moves the cursor would part the caret from its spot; tabs are kept in both lines.
    caret = "".join("\t" if character == "\t" else " " for character in before) + "^"
    return f"    {''.join(map(_visible, shown)).rstrip()}\n    {caret}"


def _visible(character: str) -> str:
    return character if character.isprintable() or character == "\t" else " "
