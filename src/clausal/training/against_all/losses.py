"""Losses of scores against all entities: every entity is a candidate for the answer to each query."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn import functional as F

from clausal.peers import ALONE, Peers
from clausal.training.against_all.queries import Answers


class AllEntitiesLoss(ABC):
    """J_F of queries whose answers are known, summed over the queries.

    ``label_smoothing`` is the share of the truth that is spread over all entities.
    """

    def __init__(self, label_smoothing: float = 0.0) -> None:
        self.label_smoothing = label_smoothing

    @abstractmethod
    def __call__(self, scores: Tensor, answers: Answers) -> Tensor:
        """Return the loss of scores [queries, entities], a scalar."""

    def expected(self, scores: Tensor, answers: Answers, shares: Tensor) -> Tensor:
        """Return Σ truth · score, given each answer's share of the truth [answers]."""
        of_answers = scores[answers.rows, answers.entities]
        smoothed = self.label_smoothing * scores.sum() / scores.shape[1] if self.label_smoothing else 0
        return (1 - self.label_smoothing) * (shares * of_answers).sum() + smoothed


class Softmax(AllEntitiesLoss):
    """Cross-entropy between softmax(scores) and the uniform distribution over a query's answers."""

    def __call__(self, scores: Tensor, answers: Answers) -> Tensor:
        return scores.logsumexp(1).sum() - self.expected(scores, answers, answers.shares.to(scores.dtype))


class BinaryCrossEntropy(AllEntitiesLoss):
    """Binary cross-entropy of every entity as an answer, the mean over entities."""

    def __call__(self, scores: Tensor, answers: Answers) -> Tensor:
        each = scores.new_ones(len(answers.entities))
        return (F.softplus(scores).sum() - self.expected(scores, answers, each)) / scores.shape[1]


ALL_ENTITIES_LOSSES: dict[str, type[AllEntitiesLoss]] = {"softmax": Softmax, "logistic": BinaryCrossEntropy}


def loss_of_products(
    queries: Tensor, candidates: Tensor, answers: Answers, loss: AllEntitiesLoss, precision: str
) -> Tensor:
    """Return the loss of ⟨query, candidate⟩ for queries [b, dim] and candidates [entities, dim].

    This is the reference, in the precision that torch multiplies in; ``precision`` is for a fast form.
    """
    return loss(queries @ candidates.T, answers)


def overwrite_(loss: AllEntitiesLoss, scores: Tensor, answers: Answers, entities: int, peers: Peers = ALONE) -> Tensor:
    """Return the loss of scores, and leave its gradient in their place: one large matrix instead of four.

    The columns are those of all ``entities``, or of the rows that this one of several ``peers`` has; then the loss is
    its part of a sum. Columns after those of the entities are −∞ and cost nothing; what is left there means nothing.
    """
    smoothing, is_softmax = loss.label_smoothing, isinstance(loss, Softmax)
    shares = answers.shares if is_softmax else torch.ones_like(answers.shares)
    truth = (1 - smoothing) * shares.to(scores.dtype)
    expected = (truth * scores[answers.rows, answers.entities]).sum()  # Σ truth · score
    if smoothing:
        expected = expected + smoothing * scores[:, :entities].sum() / entities
    if is_softmax:
        largest = peers.largest_(scores.amax(1, keepdim=True))
        total = peers.sum_(scores.sub_(largest).exp_().sum(1, keepdim=True))
        value = (total.log() + largest).sum() / peers.size - expected
        scores.div_(total)  # softmax
    else:
        value = (F.softplus(scores).sum() - expected) / entities
        scores.sigmoid_()
    scores.view(-1).index_add_(0, answers.rows * scores.shape[1] + answers.entities, truth, alpha=-1)
    if smoothing:
        scores.sub_(smoothing / entities)
    if not is_softmax:
        scores.div_(entities)
    return value
