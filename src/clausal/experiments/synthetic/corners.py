"""The closed-form adversary on boxes with less to do in each step: the same bound from the features of all corners.

While the discriminator trains, region and λ are constant. An atom's part in component i is ⟨Mᵢ, x yᵀ⟩, with Mᵢ from
the relation alone, so x yᵀ at all corners is worked out once; a step picks the best corner of each component.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import torch
from torch import Tensor

from clausal.consistency import ClauseGroup, ClosedForm
from clausal.consistency.adversaries import AdversarialSet, Adversary
from clausal.consistency.bounds.mixtures import optimal_mixture
from clausal.consistency.clauses import ArgumentSlots
from clausal.consistency.forms import violation_forms
from clausal.consistency.regions import Boxes, region_of
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers import BlockScorer


class CornerFeatures(Adversary):
    """Bounds as ``ClosedForm`` does, for clauses whose violation is one min of forms, over boxes.

    Its set holds for each group the features [1 or clauses · components, numbers, corners], the coefficient of each
    atom [clauses, atoms] and the offset [clauses].
    """

    def __init__(self, closed_form: ClosedForm) -> None:
        self.closed_form = closed_form

    def start(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], generator: torch.Generator | None = None
    ) -> AdversarialSet:
        return self.find(predictor, groups, generator)

    @torch.no_grad()
    def find(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], generator: torch.Generator | None = None
    ) -> AdversarialSet:
        return [tensor for group in groups for tensor in self._features(predictor, group)]

    def inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> Tensor:
        kept = iter(adversarial_set)
        return torch.cat([_bound(predictor, group, next(kept), next(kept), next(kept)) for group in groups])

    def _features(self, predictor: LinkPredictor, group: ClauseGroup) -> tuple[Tensor, Tensor, Tensor]:
        region = region_of(predictor, group, self.closed_form.region, self.closed_form.facts)
        (forms,) = violation_forms(group.shape.formula, self.closed_form.semantics) or ()
        assert isinstance(region, Boxes)
        subjects, objects = ArgumentSlots.of(group.shape, predictor.scorer.arguments).positions
        corners = _corners(region)
        features = torch.einsum("nkaip,nkaiq->niapqk", corners[:, :, subjects], corners[:, :, objects])
        matrices = _blocks(predictor, group)
        forms = forms.like(matrices)
        # λ as ClosedForm solves it, without the adversarial vectors that it also finds.
        table = torch.einsum("ja,naipq,niapqk->njik", forms.matrix, matrices, features)
        weights = optimal_mixture(table.double(), forms.offsets.double().expand(len(table), -1)).weights.to(matrices)
        features = features.flatten(0, 1).flatten(1, -2)
        if self.closed_form.region == "domain":  # the same in every clause and component
            features = features[:1]
        return features.contiguous(), weights @ forms.matrix, weights @ forms.offsets


def _corners(boxes: Boxes) -> Tensor:
    """Return all corners of every component [clauses, corners, slots, components, size]."""
    _, slots, _, size = boxes.low.shape
    high = torch.tensor(list(product([False, True], repeat=slots * size)), device=boxes.low.device)
    return torch.where(high.view(-1, slots, 1, size), boxes.high.unsqueeze(1), boxes.low.unsqueeze(1))


def _blocks(predictor: LinkPredictor, group: ClauseGroup) -> Tensor:
    """Return the block matrices of all atoms [clauses, atoms, components, size, size]."""
    assert isinstance(predictor.scorer, BlockScorer)
    return predictor.scorer.blocks(predictor.relation(group.relations))


def _bound(
    predictor: LinkPredictor, group: ClauseGroup, features: Tensor, coefficients: Tensor, offset: Tensor
) -> Tensor:
    weighted = coefficients[:, :, None, None, None] * _blocks(predictor, group)
    weighted = weighted.transpose(1, 2).flatten(0, 1).flatten(1)  # [clauses · components, numbers]
    with torch.no_grad():
        shared = len(features) == 1
        scores = weighted @ features[0] if shared else (weighted.unsqueeze(-1) * features).sum(1)
        best = scores.argmax(-1)  # [clauses · components]
        row = torch.zeros_like(best) if shared else torch.arange(len(best), device=best.device)
        chosen = features[row, :, best]
    return torch.relu((chosen * weighted).sum(-1).view(len(offset), -1).sum(-1) + offset)
