"""Facts and questions by name: ``capital_of(paris, france)`` is a fact, ``capital_of(?, france)`` asks for subjects,
``capital_of(paris, ?)`` for objects and ``?(paris, france)`` for relations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from clausal.errors import InputError
from clausal.graph.display import DisplayNames
from clausal.graph.graph import Graph
from clausal.graph.vocabulary import Names

_QUOTES = "'\""
_ASKED = re.compile(r"\?\w*")  # ? or ?X
_TEXT = re.compile(r'[(,]\s*"((?:[^"\\]|\\.)*)"\s*(?=[,)])')  # an argument in double quotes
_MOST_LETTERS = 20_000_000  # of all readings of a question; none that is meant has as many
_SHOWN = 10
_FORM = "write relation(subject, ?), relation(?, object) or ?(subject, object)"


class Fact(NamedTuple):
    """A fact in names."""

    subject: str
    relation: str
    object: str

    def __str__(self) -> str:
        return f"{self.relation}({self.subject}, {self.object})"


class Query(NamedTuple):
    """A question: the names given, None for what is asked."""

    subject: str | None
    relation: str | None
    object: str | None

    def __str__(self) -> str:
        subject, relation, object = ("?" if name is None else name for name in self)
        return f"{relation}({subject}, {object})"


def print_fact(fact: Fact | Query, names: DisplayNames | None = None) -> str:
    """Write a fact or a question, by display names where they are given."""
    return str(fact) if names is None else names.fact(fact)


def name_fact(graph: Graph, row: Sequence[int]) -> Fact:
    """Return a fact that is given by ids (subject, relation, object) in names."""
    subject, relation, object = row
    return Fact(graph.entities[subject], graph.relations[relation], graph.entities[object])


def fact_ids(fact: Fact, graph: Graph) -> tuple[int, int, int]:
    """Return the ids of a fact's names; an unknown name is an error that suggests the nearest known one."""
    relation = graph.relations.id(fact.relation)
    return graph.entities.id(fact.subject), relation, graph.entities.id(fact.object)


def query_ids(query: Query, graph: Graph) -> tuple[int | None, int | None, int | None]:
    """Return the ids of a question's names, None for what is asked."""
    relation = None if query.relation is None else graph.relations.id(query.relation)
    subject = None if query.subject is None else graph.entities.id(query.subject)
    object = None if query.object is None else graph.entities.id(query.object)
    return subject, relation, object


def parse_fact(text: str, graph: Graph) -> Fact:
    """Read a whole fact; a question is refused."""
    subject, relation, object = parse_query(text, graph)
    if subject is None or relation is None or object is None:
        raise InputError(f"'{text.strip()}' asks a question; write a whole fact: relation(subject, object)")
    return Fact(subject, relation, object)


Question = str | tuple[str | None, str | None, str | None]
"""A question as text, or as names of subject, relation and object with None for what is asked."""


def read_query(question: Question, graph: Graph) -> Query:
    """Return a question that is given as text or as three names; an unknown name is an error."""
    if isinstance(question, str):
        return parse_query(question, graph)
    if len(question) != 3 or not all(name is None or isinstance(name, str) for name in question):
        raise InputError(
            f"cannot read the query {question!r}: expected the names of subject, relation and object, "
            "None for what is asked"
        )
    query = Query(*question)
    _check_asked(query, str(query))
    kinds = (graph.entities, graph.relations, graph.entities)
    found = [name if name is None else find_name(name, names, graph) for name, names in zip(query, kinds, strict=True)]
    return Query(*found)


def parse_query(text: str, graph: Graph) -> Query:
    """Read a question; names may be quoted, and need not be where they hold blanks, commas or brackets.

    A name is given whole, or in a short form or by a label that no other name has.
    """
    text = text.strip().removesuffix(".")
    if not text.endswith(")") or "(" not in text:
        raise InputError(f"cannot read the query '{text}': {_FORM}")
    readings = list(dict.fromkeys(_readings(text, graph)))
    if not readings:
        raise InputError(f"cannot read the query '{text}': {_FORM}")
    known = [reading for reading in readings if _all_known(reading, graph)]
    if not known:
        find = cache(lambda name, relation: graph.display.find(name, graph.relations if relation else graph.entities))
        known = list(dict.fromkeys(filter(None, (_resolved(reading, find) for reading in readings))))
    if len(known) > 1:
        raise InputError(f"the query '{text}' can be read in {len(known)} ways; put its names in quotes")
    query = known[0] if known else readings[0]
    _check_asked(query, text)
    if not known:
        _refuse_unknown(query, graph)
    return query


def _check_asked(query: Query, text: str) -> None:
    if query.count(None) > 1:
        raise InputError(f"the query '{text}' asks for more than one name; ask for one at a time: {_FORM}")


def unknown_texts(question: Question, graph: Graph) -> list[str]:
    """Return the arguments of a question that stand in double quotes and are no entity: texts that describe one."""
    if not isinstance(question, str):
        return []
    found = []
    for match in _TEXT.finditer(question):
        text = match[1].replace('\\"', '"')
        if text.strip() and text not in graph.relations and not graph.display.find(text, graph.entities):
            found.append(text)
    return list(dict.fromkeys(found))


def find_name(text: str, names: Names, graph: Graph) -> str:
    """Return the full name that a text means; an error lists the candidates, or suggests the nearest name."""
    found = graph.display.find(text, names)
    if len(found) == 1:
        return found[0]
    if not found:
        hint = graph.display.suggestion(text, names) or names.suggestion(text)
        raise InputError(f"unknown {names.kind} '{text}'{hint}")
    shown = graph.display.relation if names is graph.relations else graph.display.entity
    listed = "".join(f"\n  {shown(name)}" for name in found[:_SHOWN])
    more = f"\n  and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    raise InputError(f"'{text}' can mean {len(found):,} names; write one of them:{listed}{more}")


def _resolved(query: Query, find: Callable[[str, bool], list[str]]) -> Query | None:
    """Return a question in full names, or None where a name means none or several."""
    found: list[str | None] = []
    for place, name in enumerate(query):
        meant = [name] if name is None else find(name, place == 1)
        if len(meant) != 1:
            return None
        found += meant
    return Query(*found)


def _refuse_unknown(query: Query, graph: Graph) -> None:
    """Say of the first name of a question that means none or several what it can mean."""
    if query.relation is not None:
        find_name(query.relation, graph.relations, graph)
    for name in (query.subject, query.object):
        if name is not None:
            find_name(name, graph.entities, graph)


def _readings(text: str, graph: Graph) -> Iterator[Query]:
    """Yield the ways to read a question: names may hold the brackets and commas that separate them.

    Where those are very many, not all ways are tried.
    """
    letters = 0
    for relation, arguments in _heads(text):
        letters += len(text) * (1 + arguments.count(","))
        if letters > _MOST_LETTERS:
            return
        for subject, object in _argument_pairs(arguments):
            yield Query(
                None if _ASKED.fullmatch(subject) else _name(subject, graph.entities),
                None if relation in ("?", "relation?") else _name(relation, graph.relations),
                None if _ASKED.fullmatch(object) else _name(object, graph.entities),
            )


def _heads(text: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to split ``relation(arguments)``: a relation's name may hold brackets too."""
    places = [place for place, letter in enumerate(text) if letter == "("]
    return ((text[:place].strip(), text[place + 1 : -1]) for place in places if text[:place].strip())


def _argument_pairs(arguments: str) -> list[tuple[str, str]]:
    """Return the ways to split ``subject, object``: an entity's name may hold commas too, best if it is quoted."""
    places = [place for place, letter in enumerate(arguments) if letter == ","]
    pairs = [(arguments[:place].strip(), arguments[place + 1 :].strip()) for place in places]
    return sorted((pair for pair in pairs if all(pair)), key=lambda pair: sum(map(_cut_in_quotes, pair)))


def _quoted(text: str) -> bool:
    return len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES


def _cut_in_quotes(text: str) -> bool:
    return not _quoted(text) and (text[0] in _QUOTES or text[-1] in _QUOTES)


def _name(text: str, names: Names) -> str:
    """Take the quotes off a name, unless they are its own."""
    if not _quoted(text):
        return text
    plain = text[1:-1].replace(f"\\{text[0]}", text[0])
    return text if text in names and plain not in names else plain


def _all_known(query: Query, graph: Graph) -> bool:
    def fine(name: str | None, names: Names) -> bool:
        return name is None or name in names

    return (
        fine(query.relation, graph.relations)
        and fine(query.subject, graph.entities)
        and fine(query.object, graph.entities)
    )
