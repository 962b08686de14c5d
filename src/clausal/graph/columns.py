"""The order of columns in a file of facts: given as a string such as ``sro``, or by a header."""

from __future__ import annotations

from collections.abc import Sequence

from clausal.errors import InputError

_LETTERS = {"s": "subject", "r": "relation", "o": "object"}
_HEADER_WORDS = {
    "subject": "subject",
    "head": "subject",
    "source": "subject",
    "relation": "relation",
    "predicate": "relation",
    "object": "object",
    "tail": "object",
    "target": "object",
    "label": "label",
}


def parse_columns(columns: str, *, labelled: bool = False) -> tuple[str, ...]:
    """Return the columns' names in file order; ``columns`` is a permutation of the letters s, r, o."""
    if sorted(columns) != sorted(_LETTERS):
        raise InputError(
            f"columns '{columns}' is not an order of subject, relation and object; expected the letters "
            "s, r, o once each, such as 'sro' or 'sor'"
        )
    fields = tuple(_LETTERS[letter] for letter in columns)
    return (*fields, "label") if labelled else fields


def field_named(word: str) -> str | None:
    """Return which column a header's word names: ``head`` names the subject, ``predicate`` the relation."""
    return _HEADER_WORDS.get(word.strip().casefold())


def header_fields(cells: Sequence[str], width: int) -> tuple[str, ...] | None:
    """Return the columns' names in file order if ``cells`` is a header that names all ``width`` of them."""
    fields = [field for field in map(field_named, cells) if field]
    expected = {*_LETTERS.values(), "label"} if width == 4 else {*_LETTERS.values()}
    return tuple(fields) if len(cells) == len(fields) == width and set(fields) == expected else None
