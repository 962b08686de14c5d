"""Answers to questions by name: every fact that could answer one is scored, and the best are named.

Each answer can say whether train has it or entails it by clauses; those that follow can come before all others.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from clausal.errors import InputError
from clausal.evaluation import Calibration
from clausal.evaluation.protocol import Ranker, score_facts
from clausal.graph.facts import Facts, occur_in
from clausal.graph.graph import Graph
from clausal.graph.query import Query, parse_query, query_ids

Entailed = Literal["first"]
"""What to do with the facts that train entails: put them before all others."""
Entailment = Literal["given", "entailed", "not entailed"]
"""Whether train has a fact, entails it by clauses, or neither."""


class AnswerRanker(Ranker, Protocol):
    """A ranker that can also be asked which relation two entities have."""

    def score_relations(self, subjects: Tensor, objects: Tensor) -> Tensor:
        """Score every relation: ids [b], [b] → [b, relations]."""


class Answer(NamedTuple):
    """One answer to a question, in names; ``split`` says where the graph has the fact, if it has it.

    ``probability`` is that of the fact among as many random corruptions, None where the run has no calibration;
    ``verdict`` says whether train has or entails the fact, where entailed answers were asked to come first.
    """

    rank: int
    subject: str
    relation: str
    object: str
    score: float
    known: bool
    split: str | None
    probability: float | None = None
    verdict: Entailment | None = None


def predict(
    predictor: AnswerRanker,
    graph: Graph,
    query: str,
    k: int = 10,
    *,
    new: bool = False,
    closure: Facts | None = None,
    calibration: Calibration | None = None,
) -> list[Answer]:
    """Return the k best answers to a query; ``new`` leaves out the facts that the graph has.

    Facts of ``closure`` come before all others.
    """
    if k < 1:
        raise InputError(f"k must be at least 1; got {k}")
    question = parse_query(query, graph)
    facts = candidates(question, graph)
    scores = score_candidates(predictor, question, graph)
    splits = _known_splits(facts, graph)
    if new:
        facts, scores, splits = facts[splits < 0], scores[splits < 0], splits[splits < 0]
    found = None if closure is None else entailments(facts, graph, closure)
    after = np.zeros(len(scores), np.bool_) if found is None else np.array([one == "not entailed" for one in found])
    order = np.lexsort((np.arange(len(scores)), -scores, after))[:k]
    chances = np.full(len(order), np.nan)
    if calibration is not None:
        # Scored as facts, which is what was calibrated: a model may score them otherwise as answers to a question.
        chances = calibration.probabilities(score_facts(predictor, facts[order]), facts[order, 1])
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
            probability=None if calibration is None else float(chances[place - 1]),
            verdict=None if found is None else found[index],
        )
        for place, index in enumerate(order, 1)
    ]


def entailments(facts: Facts, graph: Graph, closure: Facts) -> list[Entailment]:
    """Say of each fact whether train has it, entails it by the clauses of the closure, or neither."""
    sizes = len(graph.entities), len(graph.relations)
    given, entailed = occur_in(facts, graph.train, *sizes), occur_in(facts, closure, *sizes)
    names: list[Entailment] = ["given", "entailed", "not entailed"]
    return [names[place] for place in np.where(given, 0, np.where(entailed, 1, 2))]


def candidates(query: Query, graph: Graph) -> np.ndarray:
    """Return every fact that could answer the query, as ids [candidates, 3]."""
    sizes = (len(graph.entities), len(graph.relations), len(graph.entities))
    columns = [
        np.arange(size) if given is None else np.array([given])
        for given, size in zip(query_ids(query, graph), sizes, strict=True)
    ]
    return np.stack(np.broadcast_arrays(*columns), 1)


@torch.no_grad()
def score_candidates(predictor: AnswerRanker, query: Query, graph: Graph) -> np.ndarray:
    """Score every fact that could answer the query. Shape [candidates]."""

    def tensor(given: int | None) -> Tensor:
        return torch.tensor([given], device=predictor.device)

    subject, relation, object = query_ids(query, graph)
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
