"""Losses of scores against all entities, with their gradient written over the scores: they are large, and made once."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn import functional as F

from clausal.training.all_entities.queries import Answers


class AllEntitiesLoss(ABC):
    """J_F of queries whose answers are known, summed over the queries."""

    def __init__(self, label_smoothing: float = 0.0) -> None:
        self.label_smoothing = label_smoothing

    @abstractmethod
    def overwrite_(self, scores: Tensor, answers: Answers, entities: int) -> Tensor:
        """Return the loss of scores [queries, ≥ entities], and leave its gradient in their place.

        Columns after those of the entities are −∞ and cost nothing; what is left there means nothing.
        """


class Softmax(AllEntitiesLoss):
    """Cross-entropy between softmax(scores) and the uniform distribution over a query's answers."""

    def overwrite_(self, scores: Tensor, answers: Answers, entities: int) -> Tensor:
        smoothing = self.label_smoothing
        truth = (1 - smoothing) * answers.shares.to(scores.dtype)
        expected = (truth * _at(scores, answers)).sum()  # Σ truth · score
        if smoothing:
            expected = expected + smoothing * scores[:, :entities].sum() / entities
        largest = scores.amax(1, keepdim=True)
        total = scores.sub_(largest).exp_().sum(1, keepdim=True)
        loss = (total.log() + largest).sum() - expected
        scores.div_(total)  # softmax
        _subtract_(scores, answers, truth)
        if smoothing:
            scores.sub_(smoothing / entities)
        return loss


class Logistic(AllEntitiesLoss):
    """Binary cross-entropy of every entity as an answer, the mean over entities."""

    def overwrite_(self, scores: Tensor, answers: Answers, entities: int) -> Tensor:
        smoothing = self.label_smoothing
        truth = torch.full_like(answers.shares, 1 - smoothing, dtype=scores.dtype)
        expected = (truth * _at(scores, answers)).sum()
        if smoothing:
            expected = expected + smoothing * scores[:, :entities].sum() / entities
        loss = (F.softplus(scores).sum() - expected) / entities
        scores.sigmoid_()
        _subtract_(scores, answers, truth)
        if smoothing:
            scores.sub_(smoothing / entities)
        scores.div_(entities)
        return loss


def _at(scores: Tensor, answers: Answers) -> Tensor:
    return scores[answers.rows, answers.entities]


def _subtract_(scores: Tensor, answers: Answers, truth: Tensor) -> None:
    scores.view(-1).index_add_(0, answers.rows * scores.shape[1] + answers.entities, truth, alpha=-1)


LOSSES: dict[str, type[AllEntitiesLoss]] = {"softmax": Softmax, "logistic": Logistic}
