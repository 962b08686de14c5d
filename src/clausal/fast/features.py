"""Features of an adversarial set: what remains of its scores once everything but the relations is known.

A trilinear scorer is linear in the relation, φ_r(x, y) = ⟨r, f(x, y)⟩. While the discriminator trains, the adversarial
set is constant, and so are its features f: the scores of all B sets of a clause are one product with its relations.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.adversary.clauses import ArgumentSlots, ClauseGroup
from clausal.adversary.semantics import Semantics
from clausal.model.predictor import LinkPredictor


def has_features(predictor: LinkPredictor, group: ClauseGroup) -> bool:
    """Tell whether a group's scores are products of relations with constant features.

    They are not where a clause names an entity, whose vector is trained.
    """
    return predictor.scorer.terms is not None and not group.shape.constants


def features_of(predictor: LinkPredictor, group: ClauseGroup, vectors: Tensor) -> Tensor:
    """Return f for each atom and set: [clauses, sets, slots, dim] → [clauses, atoms, relation_dim, sets]."""
    slots = ArgumentSlots.of(group.shape, predictor.scorer.arguments)
    by_slot = vectors.detach().unbind(2)
    subject, object = (torch.stack([by_slot[slot] for slot in places], 1) for places in slots.positions)
    relation = subject.new_zeros(*subject.shape[:-1], predictor.scorer.relation_dim).requires_grad_()
    with torch.enable_grad():
        # The gradient of what is linear is its features.
        (features,) = torch.autograd.grad(predictor.scorer.score(relation, subject, object).sum(), relation)
    # With the sets last the product with a relation is several times as fast.
    return features.transpose(-1, -2).contiguous()


def violation_by_features(
    predictor: LinkPredictor, group: ClauseGroup, semantics: Semantics, features: Tensor
) -> Tensor:
    """Say how much each clause is violated on each set → [clauses, sets], as ``ClauseGroup.violation`` does."""
    relation = predictor.relation(group.relations).unsqueeze(-2)  # [clauses, atoms, 1, relation_dim]
    scores = torch.matmul(relation, features).squeeze(-2)  # [clauses, atoms, sets]
    return semantics.violation(group.shape.formula, scores.transpose(1, 2))
