"""Gradient ascent for scorers that are linear in the relation: the same adversary, with less to do in each step.

While the discriminator trains, the adversarial set is constant. With φ_r(x, y) = ⟨r, f(x, y)⟩, as in DistMult and
ComplEx, so are the features f, and the violations of all B sets are one matrix product.

It is no part of ``GradientAscent``, whose sets are vectors: those serve every scorer and every reader of a set, while
features pay only for many sets of few numbers, as here.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from clausal.consistency import ClauseGroup, GradientAscent
from clausal.consistency.adversaries import AdversarialSet, Adversary
from clausal.consistency.clauses import ArgumentSlots
from clausal.consistency.pooling import POOLINGS
from clausal.model.predictor import LinkPredictor


class FeatureAscent(Adversary):
    """Searches as ``GradientAscent`` does, and keeps the features [clauses, atoms, relation_dim, sets] as the set."""

    def __init__(self, search: GradientAscent) -> None:
        self.search = search

    def start(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], generator: torch.Generator | None = None
    ) -> AdversarialSet:
        return _features(predictor, groups, self.search.start(predictor, groups, generator))

    def find(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], generator: torch.Generator | None = None
    ) -> AdversarialSet:
        return _features(predictor, groups, self.search.find(predictor, groups, generator))

    def inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> Tensor:
        pool, semantics = POOLINGS[self.search.pooling], self.search.semantics
        pooled = []
        for group, features in zip(groups, adversarial_set, strict=True):
            relation = predictor.relation(group.relations).unsqueeze(-2)  # [clauses, atoms, 1, relation_dim]
            scores = torch.matmul(relation, features).squeeze(-2)  # [clauses, atoms, sets]
            pooled.append(pool(semantics.violation(group.shape.formula, scores.transpose(1, 2))))
        return torch.cat(pooled)


def _features(
    predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
) -> AdversarialSet:
    """Return f for each atom and set: the gradient of a score, linear in the relation, by the relation."""
    result = []
    for group, vectors in zip(groups, adversarial_set, strict=True):
        positions = ArgumentSlots.of(group.shape, predictor.scorer.arguments).positions
        subject, object = (vectors[:, :, position].transpose(1, 2) for position in positions)
        relation = subject.new_zeros(*subject.shape[:-1], predictor.scorer.relation_dim).requires_grad_()
        with torch.enable_grad():
            (features,) = torch.autograd.grad(predictor.scorer.score(relation, subject, object).sum(), relation)
        # With the sets last the product with a relation is several times as fast.
        result.append(features.transpose(-1, -2).contiguous())
    return result
