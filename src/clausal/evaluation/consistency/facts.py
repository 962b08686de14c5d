"""The score of a fact, which must be one number from whichever side it is asked for.

A model has one, or two readings where its relations are reciprocal, whose mean is the score of the fact. A ranking by
votes answers two questions about a fact, for its object and for its subject, with other rules: its score is the mean.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from clausal.evaluation.protocol import Ranker, not_numbers
from clausal.model.predictor import LinkPredictor

_QUESTIONS_AT_ONCE = 512


class FactScores(Protocol):
    """Scores of facts, by relation."""

    def rows(self, relation: int, turned: bool, ids: Tensor) -> Tensor:
        """Score (id, r, ?), or (?, r, id) if turned, with every entity: ids [b] → [b, entities]."""

    def pairs(self, relation: int, subjects: Tensor, objects: Tensor) -> Tensor:
        """Score facts of one relation [facts]."""


def fact_scores(ranker: Ranker) -> FactScores:
    """Return the scores of facts by a ranker."""
    if getattr(ranker, "per_question", False):
        return MeanOfQuestions(ranker)
    if isinstance(ranker, LinkPredictor) and ranker.rows_per_relation == 2:
        return MeanOfReadings(ranker)
    return OneScore(ranker)


class OneScore:
    """A ranker that scores a fact the same from both sides."""

    def __init__(self, ranker: Ranker) -> None:
        self.ranker = ranker

    def rows(self, relation: int, turned: bool, ids: Tensor) -> Tensor:
        relations = torch.full_like(ids, relation)
        return _checked(
            self.ranker.score_subjects(relations, ids) if turned else self.ranker.score_objects(ids, relations)
        )

    def pairs(self, relation: int, subjects: Tensor, objects: Tensor) -> Tensor:
        return _checked(self.ranker.score(subjects, torch.full_like(subjects, relation), objects))


class MeanOfReadings(OneScore):
    """A model with reciprocal relations: the mean of r read from subject to object and r⁻¹ from object to subject."""

    def __init__(self, predictor: LinkPredictor) -> None:
        super().__init__(predictor)
        self.plain = predictor.with_inverses()
        self.relations = predictor.num_relations

    def rows(self, relation: int, turned: bool, ids: Tensor) -> Tensor:
        forward, backward = (torch.full_like(ids, one) for one in (relation, relation + self.relations))
        if turned:
            found = self.plain.score_subjects(forward, ids) + self.plain.score_objects(ids, backward)
        else:
            found = self.plain.score_objects(ids, forward) + self.plain.score_subjects(backward, ids)
        return _checked(found.div_(2))


class MeanOfQuestions:
    """A ranking by votes: all questions of a relation are asked, from both sides, when it is first asked for."""

    def __init__(self, ranker: Ranker) -> None:
        self.ranker = ranker
        self._tables: dict[int, Tensor] = {}

    def rows(self, relation: int, turned: bool, ids: Tensor) -> Tensor:
        table = self._table(relation)
        return table[:, ids].T.contiguous() if turned else table[ids]

    def pairs(self, relation: int, subjects: Tensor, objects: Tensor) -> Tensor:
        if relation in self._tables:
            return self._tables[relation][subjects, objects]
        return _checked(self.ranker.score(subjects, torch.full_like(subjects, relation), objects))

    def _table(self, relation: int) -> Tensor:
        if relation not in self._tables:
            self._tables[relation] = self._asked(relation)
        return self._tables[relation]

    def _asked(self, relation: int) -> Tensor:
        table = torch.empty(0)
        everyone = torch.arange(self.ranker.num_entities, device=self.ranker.device)
        for ids in everyone.split(_QUESTIONS_AT_ONCE):
            answers = _checked(self.ranker.score_objects(ids, torch.full_like(ids, relation)))
            if not len(table):
                table = answers.new_empty(len(everyone), len(everyone))
            table[ids] = answers
        for ids in everyone.split(_QUESTIONS_AT_ONCE):
            table[:, ids] += _checked(self.ranker.score_subjects(torch.full_like(ids, relation), ids)).T
        return table.div_(2)


def _checked(scores: Tensor) -> Tensor:
    if scores.numel() and scores.amax().isnan():
        raise not_numbers()
    return scores
