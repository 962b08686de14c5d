"""Fitting text into the width of a terminal: names are shortened in the middle, lines are broken between atoms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size

_TREE = re.compile(r"(?:[ │]|[├└]─ |\d+\. )*")
_HANGING = 4  # columns that the next line of a broken one is indented by
_LEAST = 30  # a terminal with less room for text than this breaks lines itself
_SHARES = (0.34, 0.5, 0.15, 0.7, 0.0)  # of the room for the beginning of a shortened name, the rest for its end


def shortened_names(names: Sequence[str], width: int) -> list[str]:
    """Return names of at most ``width`` columns, in whose middle ``…`` stands for what is left out.

    Different names stay different; where they cannot, none is shortened.
    """
    distinct = set(names)
    for share in _SHARES:
        short = {name: _without_middle(name, width, share) for name in distinct}
        if len(set(short.values())) == len(distinct):
            return [short[name] for name in names]
    return list(names)


def _without_middle(text: str, width: int, share: float) -> str:
    if cell_len(text) <= width:
        return text
    first = int(share * (width - 1))
    last = width - 1 - first
    return f"{set_cell_size(text, first)}…{set_cell_size(text[::-1], last)[::-1]}"


def with_short_words(texts: Sequence[str], width: int) -> list[str]:
    """Return texts whose words are at most so wide, the longer ones shortened in the middle; different ones differ."""
    words = list({word for text in texts for word in text.split(" ")})
    short = dict(zip(words, shortened_names(words, width), strict=True))
    return [" ".join(short[word] for word in text.split(" ")) for text in texts]


def fitted_lines(line: str, width: int, whole: bool = False) -> Iterable[str]:
    """Break a line of a tree, a proof for example, at a width: between atoms where it can be, else between words.

    What follows is indented behind the branches that go on. Words that are too long are shortened, unless they are to
    be ``whole``.
    """
    before = _TREE.match(line)[0]  # type: ignore[index]
    below = re.sub(r"\d+\. ", lambda number: " " * len(number[0]), before).replace("├─", "│ ").replace("└─", "  ")
    room = width - cell_len(before) - _HANGING
    if cell_len(line) <= width or room < _LEAST:
        return [line]
    lines: list[str] = []
    current = ""
    for piece in _pieces(line[len(before) :], room, whole):
        joined = f"{current} {piece}" if current else piece
        if current and cell_len(joined) > room + (0 if lines else _HANGING):
            lines.append(current.rstrip())
            joined = piece
        current = joined
    lines.append(current)
    return [f"{before}{lines[0]}", *(f"{below}{' ' * _HANGING}{rest}" for rest in lines[1:])]


def _pieces(text: str, room: int, whole: bool) -> list[str]:
    """Split a text at blanks outside of brackets; what is too wide at all blanks, and its words are shortened."""
    pieces, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == " " and depth <= 0:
            pieces.append(text[start:place])
            start = place + 1
    pieces.append(text[start:])
    fitting: list[str] = []
    for piece in pieces:
        if cell_len(piece) <= room:
            fitting.append(piece)
        else:
            fitting += (piece if whole else with_short_words([piece], room)[0]).split(" ")
    return fitting
