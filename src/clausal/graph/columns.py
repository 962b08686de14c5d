"""Which columns of a table hold subject, relation and object: as a user names them, or by their usual names.

A table with names is never read by position: source, target, type are found in whatever order they stand, and names
that are not known are refused with the way out. Only columns without names are taken in their order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clausal.errors import InputError, did_you_mean

FACT = ("subject", "relation", "object")
LABEL = "label"

_LETTERS = {"s": "subject", "r": "relation", "o": "object"}
_ROLES = {
    "subject": "subject subj s head h source src from start begin origin left lhs subjekt quelle sujet sujeto",
    "relation": "relation rel r predicate pred p property prop relationship edge link verb beziehung predicado",
    "object": "object obj o tail t target tgt dst dest destination to end right rhs objekt ziel objet objeto cible",
}
_WORDS = {word: field for field, words in _ROLES.items() for word in words.split()}
_LAST_RESORT = {"item": "subject", "type": "relation", "kind": "relation", LABEL: "relation", "value": "object"}
"""Words that name a column only where no better one does: ``label`` between start and end is the relation."""

_ABOUT = {"id", "name", "uri", "iri", "node", "entity", "key", "term", "vertex", "concept", "text", "string", LABEL}
_NUMBERED = {"node", "entity", "e", "n", "arg", "argument", "vertex", "v", "concept", "item", "term", "id", "name"}
_NEO4J = re.compile(r".*:(?P<type>START_ID|END_ID|TYPE)\s*(\(.*\))?", re.IGNORECASE)
_NEO4J_WORDS = {"start_id": "subject", "end_id": "object", "type": "relation"}
_WORD = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*|[^\W\d_]+|\d+")
_MOST_DIGITS = 18  # of a column's number; what has more is beyond any table, as its beginning is
_NO_NAME = re.compile(r"((column|col|f|field|unnamed|v|x)[ _:.-]*)?\d+|", re.IGNORECASE)


@dataclass(frozen=True)
class Columns:
    """What a user says about the columns: their names or numbers, or the order of columns without names.

    ``fields`` are what is looked for; ``chosen`` names the column of each of them, where the user does.
    ``order`` are the fields in the order of columns without names.
    ``every_line`` says that a text file has neither a header nor comments.
    """

    fields: tuple[str, ...] = FACT
    chosen: tuple[str, ...] = ()
    order: tuple[str, ...] = FACT
    every_line: bool = False

    @property
    def numbers(self) -> tuple[int, ...] | None:
        """The positions of the fields, from 0, where the user gives numbers."""
        if not self.chosen or not all(word.isdecimal() for word in self.chosen):
            return None
        return tuple(int(word[:_MOST_DIGITS]) - 1 for word in self.chosen)


def parse_columns(columns: str | Sequence[str], header: str = "auto", *, labelled: bool = False) -> Columns:
    """Read ``columns``: an order of the letters s, r, o, or names of three columns, as a list or between commas."""
    fields = (*FACT, LABEL) if labelled else FACT
    if header not in ("auto", "no"):
        raise InputError(f"header '{header}' is not known; expected auto, or no where every line is a fact")
    every_line = header == "no"
    if isinstance(columns, str) and "," not in columns:
        if sorted(columns) != sorted(_LETTERS):
            raise InputError(
                f"columns '{columns}' is not an order of subject, relation and object; expected the letters s, r, o "
                "once each, such as 'sro' or 'sor', or the names of three columns, such as 'from,type,to'"
            )
        order = tuple(_LETTERS[letter] for letter in columns)
        return Columns(fields, order=(*order, *fields[3:]), every_line=every_line)
    chosen = [str(name).strip() for name in (columns.split(",") if isinstance(columns, str) else columns)]
    if len(chosen) == 3 and labelled:
        chosen.append("4" if all(name.isdecimal() for name in chosen) else LABEL)
    if len(chosen) != len(fields) or "" in chosen:
        raise InputError(f"columns '{', '.join(chosen)}': expected {len(fields)} names, those of {', '.join(fields)}")
    if len(set(chosen)) < len(chosen):
        raise InputError(f"columns '{', '.join(chosen)}': a column is named twice")
    found = Columns(fields, chosen=tuple(chosen), order=fields, every_line=every_line)
    if every_line and found.numbers is None:
        raise InputError("without a header columns have no names; give their numbers, such as --columns 1,2,3")
    return found


class _Meaning(NamedTuple):
    field: str
    rank: int  # 0 for the word itself, 1 with words about it, as in source_id, 2 for a last resort


def _meaning(name: str) -> _Meaning | None:
    """Say what a column's name means: ``head`` the subject, ``relation_type`` the relation, ``:END_ID`` the object."""
    name = name.strip().strip("\"'")
    neo4j = _NEO4J.fullmatch(name)
    if neo4j:
        return _Meaning(_NEO4J_WORDS[neo4j["type"].casefold()], 0)
    words = [word.casefold() for word in _WORD.findall(name)]
    if len(words) == 2 and words[0] in _NUMBERED and words[1] in ("1", "2"):
        return _Meaning("subject" if words[1] == "1" else "object", 0)
    if len(words) == 1 and words[0] in _LAST_RESORT:
        return _Meaning(_LAST_RESORT[words[0]], 2)
    known = [word for word in words if word in _WORDS]
    if len(known) != 1:
        return None
    field = _WORDS[known[0]]
    about = _ABOUT | ({"type", "kind"} if field == "relation" else set())
    return _Meaning(field, int(len(words) > 1)) if {*words} - {*known} <= about else None


def recognise(names: Sequence[str], fields: Sequence[str] = FACT) -> tuple[int, ...] | None:
    """Return where the columns of ``fields`` are, by the usual names; None where one is missing or two compete."""
    meanings = [_meaning(name) for name in names]
    if LABEL in fields:
        meanings = [None if _is_label(name) else one for name, one in zip(names, meanings, strict=True)]
    positions = []
    for field in fields:
        if field == LABEL:
            found = [position for position, name in enumerate(names) if _is_label(name)]
        else:
            ranks = {place: one.rank for place, one in enumerate(meanings) if one is not None and one.field == field}
            found = [place for place, rank in ranks.items() if rank == min(ranks.values())]
        if len(found) != 1:
            return None
        positions.append(found[0])
    return tuple(positions)


def recognised_words(names: Sequence[str]) -> list[str]:
    """Return those of the names that are usual names of columns; a single letter says little by itself."""
    return [name for name in names if _meaning(name) is not None and len(name.strip()) > 1]


def field_named(name: str) -> str | None:
    """Return the field that a column of this name usually holds."""
    meaning = _meaning(name)
    return None if meaning is None else meaning.field


def label_column(names: Sequence[str], used: Sequence[int]) -> int | None:
    """Return the column, not among those ``used``, that says which facts are true."""
    return next((place for place, name in enumerate(names) if _is_label(name) and place not in used), None)


def _is_label(name: str) -> bool:
    return name.strip().casefold() in (LABEL, "truth", "is_true")


def find_named(names: Sequence[str], columns: Columns, source: str) -> tuple[int, ...]:
    """Return where the columns of a table with names are; InputError if that is not clear."""
    if columns.chosen:
        return find_chosen(names, columns, source)
    found = recognise(names, columns.fields)
    if found is not None:
        check_order(found, columns, source)
        return found
    if len(names) == len(columns.fields) and all(map(_NO_NAME.fullmatch, names)):
        return tuple(columns.order.index(field) for field in columns.fields)
    raise InputError(
        f"{source}: columns {listed(names)}; which are {', '.join(columns.fields)}? Name them in that order: "
        f"{way_out(names)}"
    )


def find_chosen(names: Sequence[str], columns: Columns, source: str) -> tuple[int, ...]:
    """Return where the columns are that the user chose by name or by number."""
    stripped = [name.strip() for name in names]
    if columns.numbers is not None and not set(columns.chosen) <= set(stripped):
        return find_numbered(len(names), columns, source)
    for word in columns.chosen:
        count = stripped.count(word)
        if count != 1:
            many = f"{count} columns are called '{word}'; give numbers, such as --columns 1,2,3"
            one = f"no column '{word}'; the columns are {listed(names)}{did_you_mean(word, stripped)}"
            raise InputError(f"{source}: {many if count else one}")
    return tuple(stripped.index(word) for word in columns.chosen)


def find_numbered(width: int, columns: Columns, source: str) -> tuple[int, ...]:
    """Return where the columns are that the user chose by number, of as many as there are."""
    numbers = columns.numbers or ()
    if not all(0 <= number < width for number in numbers):
        raise InputError(f"{source}: no columns {', '.join(columns.chosen)}: there are {width}, from 1")
    return numbers


def check_order(found: Sequence[int], columns: Columns, source: str) -> None:
    """Refuse an order by letters that is not the order of the names; ``sro`` is what is given where nothing is."""
    named = tuple(field for _, field in sorted(zip(found, columns.fields, strict=True)))
    if columns.order[:3] != FACT and columns.order != named:
        letters = {field: letter for letter, field in _LETTERS.items()}
        given = "".join(letters[field] for field in columns.order[:3])
        raise InputError(
            f"{source}: --columns {given} contradicts the names of the columns, whose order is {', '.join(named)}; "
            "leave it out, or give three names"
        )


def way_out(names: Sequence[str]) -> str:
    """Return how to choose three columns, with the user's own names where they can be written; known ones in place."""
    writable = [name for name in names if re.fullmatch(r"[^\s,'\"][^,'\"]*", name)]
    if len(writable) < len(FACT):
        return "--columns 1,2,3"
    places = {one.field: name for name in reversed(writable) if (one := _meaning(name)) is not None}
    others = iter([name for name in writable if name not in places.values()])
    shown = ",".join(places.get(field) or next(others, "…") for field in FACT)
    return f"--columns {shown}" if re.fullmatch(r"[\w,.-]+", shown) else f"--columns '{shown}'"


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return the names of columns for a message."""
    shown = ", ".join(name or "(no name)" for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def unused_note(names: Sequence[str], used: Sequence[int], source: str) -> str | None:
    """Say which columns of a table are not used, or None where all are; an index of pandas is not worth it."""
    rest = [name for place, name in enumerate(names) if place not in used and not name.startswith("__index_level")]
    if not rest:
        return None
    return f"{source}: not used: {'column' if len(rest) == 1 else 'columns'} {listed(rest)}"
