"""The known name that a misspelt one probably means: of IRIs, the names behind the name space are compared."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from clausal.errors import did_you_mean

_MOST_COMPARED = 50_000
_LONGEST = 200  # comparing long texts takes time that grows with their product
_NEAR = 0.7
_SLIP = 0.9
_IRI = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:(?://|[^:]+:)\S")


def suggest(name: str, known: Sequence[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, or an empty string where none is near."""
    if len(name) > _LONGEST:
        return ""
    found = _other_space(name, known)
    if found is not None:
        return f"; did you mean '{found}'?"
    if is_iri(name):
        space, local = split_iri(name)
        return _meant(local, space, [other[len(space) :] for other in known if other.startswith(space)])
    return did_you_mean(name, _compared(name, [other for other in known if not is_iri(other)]))


def is_iri(name: str) -> bool:
    """Tell whether a name is an IRI, such as ``https://brickschema.org/schema/Brick#feeds``."""
    return _IRI.match(name) is not None


def split_iri(name: str) -> tuple[str, str]:
    """Return an IRI's name space, with its ``#``, ``/`` or ``:``, and the local name behind it."""
    body = name.rstrip("#/")
    cut = max(body.rfind("#"), body.rfind("/"), -1 if "://" in body else body.rfind(":")) + 1
    return name[:cut], name[cut:]


def is_slip(name: str, known: str) -> bool:
    """Tell whether one name looks like a slip of the pen for another: most of it is the same."""
    spaces = [split_iri(one) if is_iri(one) else ("", one) for one in (name, known)]
    if spaces[0][0] != spaces[1][0] or max(len(name), len(known)) > _LONGEST:
        return False
    return difflib.SequenceMatcher(None, spaces[0][1], spaces[1][1]).ratio() >= _SLIP


def _other_space(name: str, known: Sequence[str]) -> str | None:
    """Return an IRI with the same local name: for ``feeds``, ``brick:feeds`` or an IRI in another name space."""
    local = (split_iri(name)[1] if is_iri(name) else name.rpartition(":")[2]).casefold()
    if not local:
        return None
    ends = tuple(f"{mark}{local}" for mark in "#/:")
    candidates = (other for other in known if other.casefold().endswith(ends) and is_iri(other))
    return next((other for other in candidates if split_iri(other)[1].casefold() == local), None)


def _meant(local: str, space: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(local, _compared(local, known), n=1, cutoff=_NEAR)
    return f"; did you mean '{space}{near[0]}'?" if near else ""


def _compared(name: str, known: Sequence[str]) -> Sequence[str]:
    """Return the names to compare with: of very many, those that begin alike, as all would take minutes."""
    if len(known) > _MOST_COMPARED:
        known = [other for other in known if other[:2].casefold() == name[:2].casefold()]
    return [other for other in known[:_MOST_COMPARED] if len(other) <= 2 * _LONGEST]
