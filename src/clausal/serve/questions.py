"""Questions and facts as requests have them, read into names of the graph."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clausal.errors import InputError
from clausal.graph.graph import Graph
from clausal.graph.query import Fact, parse_fact, read_query
from clausal.serve.batching import Query
from clausal.serve.requests import FactBody, QueryBody

_PLAIN = re.compile(r"\s*([^()'\"?,]+|\?)\(([^()'\",]+),([^()'\",]+)\)\.?\s*")
"""A question that can be read in one way only."""


def read_at_once(question: QueryBody | str, graph: Graph) -> Query | None:
    """Return a question that is clear and has known names, else None: then reading it can take long."""
    if isinstance(question, str):
        parts = _PLAIN.fullmatch(question)
        if parts is None:
            return None
        relation, subject, object = (None if part.strip() == "?" else part.strip() for part in parts.groups())
    else:
        subject, relation, object = question.subject, question.relation, question.object
    query = subject, relation, object
    if query.count(None) > 1:
        return None
    known = (
        (subject is None or subject in graph.entities)
        and (relation is None or relation in graph.relations)
        and (object is None or object in graph.entities)
    )
    return query if known else None


def read_questions(questions: Sequence[QueryBody | str], graph: Graph) -> list[Query]:
    """Read questions; an error says which of them it is about."""
    found: list[Query] = []
    for number, question in enumerate(questions, 1):
        given = question if isinstance(question, str) else (question.subject, question.relation, question.object)
        try:
            subject, relation, object = read_query(given, graph)
        except InputError as error:
            raise InputError(f"question {number}: {error}" if len(questions) > 1 else str(error)) from None
        found.append((subject, relation, object))
    return found


def read_fact(given: FactBody | str, graph: Graph) -> Fact:
    """Read a whole fact, by names or as text."""
    if isinstance(given, str):
        return parse_fact(given, graph)
    subject, relation, object = read_query((given.subject, given.relation, given.object), graph)
    assert subject is not None
    assert relation is not None
    assert object is not None
    return Fact(subject, relation, object)
