"""The two kinds of failure a user can meet, each with its exit code, and what messages share."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_LONGEST_LINE = 1000  # of a message; beyond, what makes it long is shortened
_LONGEST_WORD = 200
_LONG_WORD = re.compile(rf"\S{{{_LONGEST_WORD + 1},}}")


class ClausalError(Exception):
    """A failure that is explained to the user in one message, without a traceback.

    A name from a file may be as long as the file; in the message it is shortened.
    """

    exit_code = 1

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message))


class InputError(ClausalError):
    """Bad usage or bad input: a file, a clause, a name or a setting that cannot be accepted."""

    exit_code = 2


class RunError(ClausalError):
    """A failure while running: divergence, a full disk, a download that does not arrive."""

    exit_code = 1


_NO_MEMORY = (
    "can't allocate memory",
    "not enough memory",
    "out of memory",
    "can't start new thread",
    "Storage size calculation overflowed",
    "error return without exception set",  # what Python says where a call found no memory for its frame
)


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an error means that memory ran out, which torch has no one class for."""
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in _NO_MEMORY)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: ``1 clause``, ``2,000 clauses``; ``plural`` is for nouns that take more than s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the known name nearest to ``name``, or an empty string."""
    if len(name) > _LONGEST_WORD:  # comparing long texts takes time that grows with their product
        return ""
    known = [candidate for candidate in known if len(candidate) <= 2 * _LONGEST_WORD]
    folded = {candidate.casefold(): candidate for candidate in known}
    exact = folded.get(name.casefold())
    matches = [exact] if exact else difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean '{matches[0]}'?" if matches else ""


def shortened(message: str) -> str:
    """Return a message whose lines can be read: in long ones, long words and then the middle give way to ``…``."""
    return "\n".join(map(_shortened_line, message.split("\n"))) if len(message) > _LONGEST_LINE else message


def _shortened_line(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    line = _LONG_WORD.sub(lambda word: _without_middle(word[0], _LONGEST_WORD), line)
    return _without_middle(line, _LONGEST_LINE)


def _without_middle(text: str, longest: int) -> str:
    """Cut the middle: the beginning says where something is wrong, the end what to do."""
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half]}…{text[-half:]}"
