"""Questions by name: ``capital_of(?, france)`` asks for subjects, ``capital_of(paris, ?)`` for objects,
``?(paris, france)`` for relations, and ``capital_of(paris, france)`` for the score of one fact."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from clausal.errors import InputError
from clausal.graph.facts import occur_in
from clausal.graph.graph import Graph
from clausal.graph.vocabulary import Names
from clausal.model.predictor import LinkPredictor

_QUOTES = "'\""
_ASKED = re.compile(r"\?\w*")  # ? or ?X
_MOST_READINGS = 10_000  # no question that is meant has as many
_FORM = "write relation(subject, ?), relation(?, object) or ?(subject, object)"


class Answer(NamedTuple):
    """One answer to a question, in names; ``split`` says where the graph has the fact, if it has it."""

    rank: int
    subject: str
    relation: str
    object: str
    score: float
    known: bool
    split: str | None


class Query(NamedTuple):
    """A question: the names given, None for what is asked."""

    subject: str | None
    relation: str | None
    object: str | None


def predict(predictor: LinkPredictor, graph: Graph, query: str, k: int = 10, *, new: bool = False) -> list[Answer]:
    """Return the k best answers to a query; ``new`` leaves out the facts that the graph has."""
    if k < 1:
        raise InputError(f"k must be at least 1; got {k}")
    question = parse_query(query, graph)
    facts = _candidates(question, graph)
    scores = _score(predictor, question, graph)
    splits = _known_splits(facts, graph)
    if new:
        facts, scores, splits = facts[splits < 0], scores[splits < 0], splits[splits < 0]
    order = np.lexsort((np.arange(len(scores)), -scores))[:k]
    names = list(graph.splits)
    return [
        Answer(
            rank=place,
            subject=graph.entities[facts[index, 0]],
            relation=graph.relations[facts[index, 1]],
            object=graph.entities[facts[index, 2]],
            score=float(scores[index]),
            known=bool(splits[index] >= 0),
            split=names[splits[index]] if splits[index] >= 0 else None,
        )
        for place, index in enumerate(order, 1)
    ]


def parse_query(text: str, graph: Graph) -> Query:
    """Read a question; names may be quoted, and need not be where they hold blanks, commas or brackets."""
    text = text.strip().removesuffix(".")
    if not text.endswith(")") or "(" not in text:
        raise InputError(f"cannot read the query '{text}': {_FORM}")
    readings = list(islice(_readings(text, graph), _MOST_READINGS))
    if not readings:
        raise InputError(f"cannot read the query '{text}': {_FORM}")
    known = list(dict.fromkeys(reading for reading in readings if _all_known(reading, graph)))
    if len(known) > 1:
        raise InputError(f"the query '{text}' can be read in {len(known)} ways; put its names in quotes")
    query = known[0] if known else readings[0]
    if [query.subject, query.relation, query.object].count(None) > 1:
        raise InputError(f"the query '{text}' asks for more than one name; ask for one at a time: {_FORM}")
    for name, names in (
        (query.relation, graph.relations),
        (query.subject, graph.entities),
        (query.object, graph.entities),
    ):
        if name is not None:
            names.id(name)
    return query


def _readings(text: str, graph: Graph) -> Iterator[Query]:
    """Yield the ways to read a question: names may hold the brackets and commas that separate them."""
    for relation, arguments in _heads(text):
        for subject, object in _argument_pairs(arguments):
            yield Query(
                None if _ASKED.fullmatch(subject) else _name(subject, graph.entities),
                None if relation in ("?", "relation?") else _name(relation, graph.relations),
                None if _ASKED.fullmatch(object) else _name(object, graph.entities),
            )


def _heads(text: str) -> list[tuple[str, str]]:
    """Return the ways to split ``relation(arguments)``: a relation's name may hold brackets too."""
    places = [place for place, letter in enumerate(text) if letter == "("]
    return [(text[:place].strip(), text[place + 1 : -1]) for place in places if text[:place].strip()]


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


def _ids(query: Query, graph: Graph) -> tuple[int | None, int | None, int | None]:
    return (
        None if query.subject is None else graph.entities.id(query.subject),
        None if query.relation is None else graph.relations.id(query.relation),
        None if query.object is None else graph.entities.id(query.object),
    )


def _candidates(query: Query, graph: Graph) -> np.ndarray:
    """Return every fact that could answer the query, as ids [candidates, 3]."""
    sizes = (len(graph.entities), len(graph.relations), len(graph.entities))
    columns = [
        np.arange(size) if given is None else np.array([given])
        for given, size in zip(_ids(query, graph), sizes, strict=True)
    ]
    return np.stack(np.broadcast_arrays(*columns), 1)


@torch.no_grad()
def _score(predictor: LinkPredictor, query: Query, graph: Graph) -> np.ndarray:
    def tensor(given: int | None) -> Tensor:
        return torch.tensor([given], device=predictor.device)

    subject, relation, object = _ids(query, graph)
    if subject is None:
        scores = predictor.score_subjects(tensor(relation), tensor(object))[0]
    elif object is None:
        scores = predictor.score_objects(tensor(subject), tensor(relation))[0]
    elif relation is None:
        scores = predictor.score_relations(tensor(subject), tensor(object))[0]
    else:
        scores = predictor.score(tensor(subject), tensor(relation), tensor(object))
    return scores.double().cpu().numpy()


def _known_splits(facts: np.ndarray, graph: Graph) -> np.ndarray:
    """Return for each fact the number of the split that has it, or −1."""
    found = np.full(len(facts), -1)
    for number, split in reversed(list(enumerate(graph.splits.values()))):
        found[occur_in(facts, split, len(graph.entities), len(graph.relations))] = number
    return found
