"""Corners of a box as features: the closed form on a box with everything but the relations worked out beforehand.

The largest Σ_a C_a φ_a over a box is a sum over components i of the best corner's value, and φ is linear in the
relation: Σᵢ maxₖ ⟨f(k), r[i]⟩. The features f(k) of a corner k are the same for every component and every step.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.adversary.clauses import ArgumentSlots, ClauseGroup
from clausal.bounds.blocks import LinearForms
from clausal.fast.features import features_of, has_features
from clausal.model.domains import Box
from clausal.model.predictor import LinkPredictor

_MOST_CORNERS = 64


def has_corner_features(predictor: LinkPredictor, group: ClauseGroup) -> bool:
    """Tell whether a group's closed form over the domain is a maximum over the corners of a box, alike for all."""
    if not isinstance(predictor.domain, Box) or not has_features(predictor, group):
        return False
    slots = ArgumentSlots.of(group.shape, predictor.scorer.arguments)
    reflexive = any(subject == object for subject, object in zip(*slots.positions, strict=True))
    return not reflexive and 2 ** (slots.free * _parts(predictor)) <= _MOST_CORNERS


def corner_features(
    predictor: LinkPredictor, group: ClauseGroup, forms: LinearForms, weights: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return f [clauses, corners, numbers] and the constant part [clauses], for λ [clauses, forms] of several forms."""
    domain, parts = predictor.domain, _parts(predictor)
    assert isinstance(domain, Box)
    slots = ArgumentSlots.of(group.shape, predictor.scorer.arguments)
    width = predictor.scorer.dim // parts
    limits = predictor.relations.new_tensor([domain.low, domain.high])
    corners = torch.cartesian_prod(*[limits] * (slots.free * parts)).view(1, -1, slots.free, parts)
    features = features_of(predictor, group, corners.repeat_interleave(width, -1))  # the same in each component
    of_one_component = features[0].unflatten(1, (-1, width))[:, :, 0]  # [atoms, relation parts, corners]
    forms = forms.like(features)
    weights = features.new_ones(len(group.clauses), 1) if weights is None else weights
    weighed = (weights @ forms.matrix)[:, :, None, None] * of_one_component  # [clauses, atoms, relation parts, corners]
    return weighed.flatten(1, 2).mT.contiguous(), weights @ forms.offsets


def largest_by_corners(predictor: LinkPredictor, group: ClauseGroup, features: Tensor, constant: Tensor) -> Tensor:
    """Return Σᵢ maxₖ ⟨f(k), r[i]⟩ plus the constant part [clauses]."""
    relations = predictor.relation(group.relations)  # [clauses, atoms, relation_dim]
    by_component = relations.view(len(features), features.shape[2], -1)  # [clauses, numbers, components]
    return torch.bmm(features, by_component).max(1).values.sum(-1) + constant


def _parts(predictor: LinkPredictor) -> int:
    assert predictor.scorer.terms is not None
    return predictor.scorer.terms.parts
