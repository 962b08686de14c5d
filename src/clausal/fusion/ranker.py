"""Rankers by votes: rules alone, and rules fused with a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from clausal.evaluation.protocol import Ranker
from clausal.fusion.evidence import Evidence
from clausal.fusion.lists import Ids, Reals
from clausal.fusion.questions import model_scores

_QUESTIONS_AT_ONCE = 512
_RULES = 10
"""How many of the best rules for each of two answers are compared, where rules alone rank."""
_STEP = 2.0**-26
"""What confidences are rounded down to in a score of rules; what is left below it orders those that tie."""


class _Votes(ABC):
    """A ranker that answers questions (entity, label, ?); the score of a fact is the mean of its two sides'."""

    per_question: ClassVar[bool] = True
    """Whether a fact scores otherwise as the answer for its subject than as that for its object."""

    def __init__(self, evidence: Evidence, device: torch.device) -> None:
        self.evidence, self.device = evidence, device

    @property
    def num_entities(self) -> int:
        """How many entities there are to rank."""
        return self.evidence.entities

    @property
    def num_relations(self) -> int:
        """How many relations there are."""
        return self.evidence.relations

    @abstractmethod
    def answers(self, entities: Ids, labels: Ids) -> Tensor:
        """Score all entities as answers to questions: [questions, entities]."""

    def score(self, subjects: Tensor, relations: Tensor, objects: Tensor) -> Tensor:
        """Score facts given by ids: the mean of their scores as answers for the subject and for the object."""
        subject, relation, object = (
            column.reshape(-1).cpu().numpy().astype(np.int64)
            for column in torch.broadcast_tensors(subjects, relations, objects)
        )
        as_object = self._of_answers(subject, relation, object)
        as_subject = self._of_answers(object, relation + self.num_relations, subject)
        return (as_object + as_subject) / 2

    def _of_answers(self, entities: Ids, labels: Ids, answers: Ids) -> Tensor:
        """Score one answer to each question; a question that is asked several times is answered once."""
        keys, places = np.unique(entities * (2 * self.num_relations) + labels, return_inverse=True)
        order = np.argsort(places, kind="stable")
        starts = np.searchsorted(places[order], np.arange(len(keys) + 1))
        found = torch.empty(0, device=self.device)
        for start in range(0, len(keys), _QUESTIONS_AT_ONCE):
            some = keys[start : start + _QUESTIONS_AT_ONCE]
            here = order[starts[start] : starts[start + len(some)]]
            scores = self.answers(some // (2 * self.num_relations), some % (2 * self.num_relations))
            if not start:
                found = scores.new_empty(len(entities))
            rows, columns = (torch.from_numpy(ids).to(self.device) for ids in (places[here] - start, answers[here]))
            found[torch.from_numpy(here).to(self.device)] = scores[rows, columns]
        return found

    def score_objects(self, subjects: Tensor, relations: Tensor) -> Tensor:
        """Score all entities as the object of (s, r, ?): ids [queries], scores [queries, entities]."""
        return self.answers(_ids(subjects), _ids(relations))

    def score_subjects(self, relations: Tensor, objects: Tensor) -> Tensor:
        """Score all entities as the subject of (?, r, o): ids [queries], scores [queries, entities]."""
        return self.answers(_ids(objects), _ids(relations) + self.num_relations)

    def score_relations(self, subjects: Tensor, objects: Tensor) -> Tensor:
        """Score every relation: ids [b], [b] → [b, relations]."""
        relations = torch.arange(self.num_relations, device=self.device)
        scores = self.score(subjects.unsqueeze(-1), relations, objects.unsqueeze(-1))
        return scores.reshape(len(subjects), self.num_relations)


class RulesAlone(_Votes):
    """Ranks answers by the best rule that votes for them, those with the same by the second best, and so on.

    Nothing is fitted. A score is the best confidence, and in the digits behind it the order among all answers.
    """

    ranking = "rules"

    def answers(self, entities: Ids, labels: Ids) -> Tensor:
        """Score all entities as answers to questions: [questions, entities]."""
        votes = self.evidence.voting_alone.votes(entities, labels, top=_RULES)
        rows = np.repeat(np.arange(len(entities)), np.diff(votes.starts))
        scores = np.zeros((len(entities), self.num_entities))
        best = np.floor(votes.top[:, 0].astype(np.float64) / _STEP)
        scores[rows, votes.answers] = (best + (1 + votes.levels()) * _STEP) * _STEP
        return torch.from_numpy(scores).to(self.device)


class Fused(_Votes):
    """Ranks answers by weights · features: the model's score and the evidence, by weights of relation and direction."""

    def __init__(self, predictor: Ranker, evidence: Evidence, weights: Reals, *, signed: bool = False) -> None:
        super().__init__(evidence, predictor.device)
        self.predictor, self.weights = predictor, weights
        self.ranking = "fused, signed" if signed else "fused"

    def answers(self, entities: Ids, labels: Ids) -> Tensor:
        """Score all entities as answers to questions: [questions, entities]."""
        weights = self.weights[labels]
        scores = model_scores(self.predictor, entities, labels)
        scores *= torch.from_numpy(weights[:, :1]).float().to(self.device)
        return scores.add_(torch.from_numpy(self.evidence.added(entities, labels, weights)).to(self.device))


def _ids(tensor: Tensor) -> Ids:
    ids: Ids = tensor.cpu().numpy().astype(np.int64)
    return ids
