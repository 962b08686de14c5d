"""The score of a fact, which must be one number from whichever side it is asked for.

A model has one, or two readings where its relations are reciprocal, whose mean is the score of the fact. A ranking by
votes answers two questions about a fact, for its object and for its subject, with other rules: its score is the mean.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from clausal.evaluation.memory import free_memory
from clausal.evaluation.protocol import Ranker
from clausal.fast import fastest
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import MultilinearScorer
from clausal.model.tensors import inner_products
from clausal.observer import Observer

_QUESTIONS_AT_ONCE = 512
_FLOAT64 = 8
_SPARE = 4
"""Tables that memory should have room for beside those that are kept."""


class FactScores(Protocol):
    """Scores of facts. A row is all facts of a relation with one subject, or with one object if it is turned."""

    def rows(self, relations: Tensor, turned: Tensor, ids: Tensor) -> Tensor:
        """Score (id, r, ?), or (?, r, id) where turned, with every entity: [b] each → [b, entities]."""

    def pairs(self, relation: int, subjects: Tensor, objects: Tensor) -> Tensor:
        """Score facts of one relation [facts]."""


def fact_scores(ranker: Ranker, *, relations: int | None = None, observer: Observer | None = None) -> FactScores:
    """Return the scores of facts by a ranker; the observer is told of questions, about so many relations at most."""
    if getattr(ranker, "per_question", False):
        return MeanOfQuestions(ranker, ranker.num_relations if relations is None else relations, observer or Observer())
    if isinstance(ranker, LinkPredictor) and isinstance(ranker.scorer, MultilinearScorer) and not ranker.of_pairs:
        return OfProducts(ranker)
    return OneScore(ranker)


class OneScore:
    """A ranker that scores a fact the same from both sides; of a model with reciprocal relations, the mean of both."""

    def __init__(self, ranker: Ranker) -> None:
        self.ranker = ranker
        self.reciprocal = isinstance(ranker, LinkPredictor) and ranker.rows_per_relation == 2
        self.rows_of: Ranker = ranker.with_inverses() if isinstance(ranker, LinkPredictor) else ranker

    def rows(self, relations: Tensor, turned: Tensor, ids: Tensor) -> Tensor:
        found = None
        for places, of_objects in ((~turned, True), (turned, False)):
            places = places.nonzero().squeeze(1)
            if len(places):
                scores = self._scores(relations[places], ids[places], of_objects)
                found = scores.new_empty(len(ids), scores.shape[1]) if found is None else found
                found[places] = scores
        return torch.empty(0, self.ranker.num_entities, device=self.ranker.device) if found is None else found

    def _scores(self, relations: Tensor, ids: Tensor, of_objects: bool) -> Tensor:
        def one(relations: Tensor, of_objects: bool) -> Tensor:
            rows_of = self.rows_of
            return rows_of.score_objects(ids, relations) if of_objects else rows_of.score_subjects(relations, ids)

        found = one(relations, of_objects)
        if not self.reciprocal:
            return found
        return (found + one(relations + self.ranker.num_relations, not of_objects)) / 2

    def pairs(self, relation: int, subjects: Tensor, objects: Tensor) -> Tensor:
        return self.ranker.score(subjects, torch.full_like(subjects, relation), objects)


class OfProducts(OneScore):
    """A model that is linear in each entity: rows are products with all entities, those of many relations at once."""

    def __init__(self, predictor: LinkPredictor) -> None:
        super().__init__(predictor)
        self.plain = predictor.with_inverses()

    def rows(self, relations: Tensor, turned: Tensor, ids: Tensor) -> Tensor:
        vectors, plain = self.plain.encode(ids), self.plain
        queries = torch.empty_like(vectors)
        for places, of_objects in ((~turned, True), (turned, False)):
            here, asked = vectors[places], relations[places]
            found = plain.query_objects(here, asked) if of_objects else plain.query_subjects(asked, here)
            if self.reciprocal:
                asked = asked + self.ranker.num_relations
                found = (
                    found + (plain.query_subjects(asked, here) if of_objects else plain.query_objects(here, asked))
                ) / 2
            queries[places] = found
        entities = plain.encode_all()
        return fastest(inner_products, queries, entities)(queries, entities)


class MeanOfQuestions:
    """A ranking by votes: all questions of a relation are asked, from both sides, when it is first asked for."""

    def __init__(self, ranker: Ranker, relations: int, observer: Observer) -> None:
        self.ranker, self.observer = ranker, observer
        self._tables: dict[int, Tensor] = {}
        self._done, self._most = 0, 2 * ranker.num_entities * relations

    def rows(self, relations: Tensor, turned: Tensor, ids: Tensor) -> Tensor:
        rows = zip(relations.tolist(), turned.tolist(), ids.tolist(), strict=True)
        return torch.stack([self._table(r)[:, id] if inverse else self._table(r)[id] for r, inverse, id in rows])

    def pairs(self, relation: int, subjects: Tensor, objects: Tensor) -> Tensor:
        if relation in self._tables:
            return self._tables[relation][subjects, objects]
        return self.ranker.score(subjects, torch.full_like(subjects, relation), objects)

    def _table(self, relation: int) -> Tensor:
        """Return all scores of a relation; those that were not asked for longest go where memory is short."""
        table = self._tables.pop(relation, None)
        if table is None:
            size = self.ranker.num_entities**2 * _FLOAT64
            while self._tables and free_memory(self.ranker.device) < _SPARE * size:
                del self._tables[next(iter(self._tables))]
            table = self._asked(relation)
        self._tables[relation] = table
        return table

    def _asked(self, relation: int) -> Tensor:
        table = torch.empty(0)
        everyone = torch.arange(self.ranker.num_entities, device=self.ranker.device)
        for ids in everyone.split(_QUESTIONS_AT_ONCE):
            answers = self.ranker.score_objects(ids, torch.full_like(ids, relation))
            if not len(table):
                table = answers.new_empty(len(everyone), len(everyone))
            table[ids] = answers
            self._advance(len(ids))
        for ids in everyone.split(_QUESTIONS_AT_ONCE):
            table[:, ids] += self.ranker.score_subjects(torch.full_like(ids, relation), ids).T
            self._advance(len(ids))
        return table.div_(2)

    def _advance(self, questions: int) -> None:
        """Tell how far it is, unless a table that memory had no room for is asked for again."""
        self._done += questions
        self.observer.advanced("asking", self._done, self._most if self._done <= self._most else None, "questions")
