"""The two kinds of failure a user can meet, each with its exit code, and what their messages share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ClausalError(Exception):
    """A failure that is explained to the user in one message, without a traceback."""

    exit_code = 1


class InputError(ClausalError):
    """Bad usage or bad input: a file, a clause, a name or a setting that cannot be accepted."""

    exit_code = 2


class RunError(ClausalError):
    """A failure while running: divergence, a full disk, a download that does not arrive."""

    exit_code = 1


_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "Storage size calculation overflowed")


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an error means that memory ran out, which torch has no one class for."""
    return isinstance(error, MemoryError) or any(sign in str(error) for sign in _NO_MEMORY)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the known name nearest to ``name``, or an empty string."""
    known = list(known)
    folded = {candidate.casefold(): candidate for candidate in known}
    exact = folded.get(name.casefold())
    matches = [exact] if exact else difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean '{matches[0]}'?" if matches else ""
