"""The inconsistency of a set that stays the same, by features that are computed once per search.

A trilinear scorer is linear in the relation, φ_r(x, y) = ⟨r, f(x, y)⟩. While the discriminator trains, S stays the
same, and so do its features f: the scores of all B sets of a clause are one product with its relations. The closed form
on a box is alike: the largest Σ_a C_a φ_a is Σᵢ maxₖ ⟨f(k), r[i]⟩ over components i and the corners k of one component.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from clausal.adversary.adversary import AdversarialSet, Adversary, GroupSet, Vectors
from clausal.adversary.ascent import GradientAscent, RealEntities
from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.closed_form import ClosedForm, WorstCase
from clausal.bounds.blocks import LinearForms
from clausal.fast.kernels import CornerFeatures, PairForm
from clausal.model.domains import Ball, Box, Sphere
from clausal.model.predictor import LinkPredictor
from clausal.training.clauses import ClauseLoss

_MOST_CORNERS = 64
_SEARCHERS = (RealEntities, GradientAscent)


class FeatureLoss(ClauseLoss):
    """The same loss; what can be computed once for a set is computed when it is adopted.

    Tensors stay at their addresses from one set to the next, so that a recorded step reads the new set.
    """

    in_place = True

    def __init__(self, adversary: Adversary, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> None:
        super().__init__(adversary, predictor, groups)
        self._prepared: list[GroupSet | Tensor | list[CornerFeatures]] = []
        self._corners: dict[ClauseGroup, list[_Corners]] = {}

    def adopt(self, found: AdversarialSet) -> None:
        super().adopt(found)
        prepared = [self._prepare(group, one) for group, one in zip(self.groups, found, strict=True)]
        new, old = _all_tensors(prepared), _all_tensors(self._prepared)
        if self._prepared and [tensor.shape for tensor in new] == [tensor.shape for tensor in old]:
            for one, other in zip(old, new, strict=True):
                one.copy_(other)
        else:
            self._prepared = prepared

    def __call__(self) -> Tensor:
        return torch.cat(
            [
                self._inconsistency_of(group, of_group)
                for group, of_group in zip(self.groups, self._prepared, strict=True)
            ]
        )

    def add_gradient(self, slopes: Tensor, into: Tensor) -> Tensor | None:
        """Add Σ slope · ∂J_I/∂θ over clauses to the gradient by relations, and return J_I of each clause.

        None, and nothing is added, where autograd has to find the gradient.
        """
        return None

    def _prepare(self, group: ClauseGroup, found: GroupSet) -> GroupSet | Tensor | list[CornerFeatures]:
        adversary = self.adversary
        if isinstance(found, Vectors) and searches_vectors(adversary) and has_features(self.predictor, group):
            return found.features(self.predictor, group)
        if isinstance(found, WorstCase) and is_at_corners(adversary, self.predictor, group):
            assert isinstance(adversary, ClosedForm)
            if group not in self._corners:
                alternatives = adversary.alternatives(self.predictor, group) or ()
                self._corners[group] = [_Corners(self.predictor, group, forms) for forms in alternatives]
            return [
                corners.weighed(weights) for corners, weights in zip(self._corners[group], found.weights, strict=True)
            ]
        return type(found).from_tensors({name: tensor.detach().clone() for name, tensor in found.tensors().items()})

    def _inconsistency_of(self, group: ClauseGroup, prepared: GroupSet | Tensor | list[CornerFeatures]) -> Tensor:
        if isinstance(prepared, GroupSet):
            return self.adversary.inconsistency(self.predictor, [group], [prepared])
        if isinstance(prepared, Tensor):
            searcher = searches_vectors(self.adversary)
            assert searcher is not None
            scores = scores_by_features(self.predictor, group, prepared)
            return searcher.pool(searcher.semantics.violation(group.shape.formula, scores))
        nothing = self.predictor.relations.new_zeros(len(group))
        largest = [largest_by_corners(self.predictor, group, corners) for corners in prepared]
        return torch.stack([nothing, *largest]).amax(0)


def has_features(predictor: LinkPredictor, group: ClauseGroup) -> bool:
    """Tell whether a group's scores are products of relations with constant features.

    They are not where a clause names an entity, whose vector is trained.
    """
    return predictor.scorer.terms is not None and not group.shape.constants


def scores_by_features(predictor: LinkPredictor, group: ClauseGroup, features: Tensor) -> Tensor:
    """Score every atom on each set → [clauses, sets, atoms], as ``ClauseGroup.scores`` does."""
    relation = predictor.relation(group.relations).unsqueeze(-2)  # [clauses, atoms, 1, relation_dim]
    return torch.matmul(relation, features).squeeze(-2).transpose(1, 2)


def searches_vectors(adversary: Adversary) -> RealEntities | None:
    """Return the adversary of this library that searches vectors: this one, or what a closed form falls back to."""
    searcher = adversary.fallback if type(adversary) is ClosedForm else adversary
    return searcher if isinstance(searcher, RealEntities) and type(searcher) in _SEARCHERS else None


def is_at_corners(adversary: Adversary, predictor: LinkPredictor, group: ClauseGroup) -> bool:
    """Tell whether a group's closed form is a maximum over corners of the domain, alike for all components."""
    if type(adversary) is not ClosedForm or not adversary.in_domain(predictor):
        return False
    if not isinstance(predictor.domain, Box) or not has_features(predictor, group):
        return False
    slots = group.slots(predictor)
    reflexive = any(subject == object for subject, object in zip(*slots.positions, strict=True))
    return not reflexive and 2 ** (slots.free * _parts(predictor)) <= _MOST_CORNERS


def pair_form(adversary: Adversary, predictor: LinkPredictor, group: ClauseGroup) -> PairForm | None:
    """Return the form of a group's closed form on sphere or ball, if it is one in two variables that all atoms have."""
    if type(adversary) is not ClosedForm or not adversary.in_domain(predictor):
        return None
    if not isinstance(predictor.domain, Sphere | Ball) or not has_features(predictor, group):
        return None
    alternatives, slots = adversary.alternatives(predictor, group), group.slots(predictor)
    terms = predictor.scorer.terms
    if not alternatives or len(alternatives) > 1 or len(alternatives[0].offsets) > 1 or slots.free != 2:
        return None
    assert terms is not None
    if terms.parts > 2 or any(subject == object for subject, object in zip(*slots.positions, strict=True)):
        return None
    (forms,) = alternatives
    return PairForm(
        tuple(forms.matrix[0].tolist()),
        tuple(subject > 0 for subject in slots.positions[0]),
        forms.offsets.item(),
        predictor.scorer.dim // terms.parts,
    )


class _Corners:
    """The corners of one component, for one alternative of a group's violation; nothing but λ changes by them."""

    def __init__(self, predictor: LinkPredictor, group: ClauseGroup, forms: LinearForms) -> None:
        domain, parts = predictor.domain, _parts(predictor)
        assert isinstance(domain, Box)
        free = group.slots(predictor).free
        width = predictor.scorer.dim // parts
        limits = predictor.relations.new_tensor([domain.low, domain.high])
        corners = torch.cartesian_prod(*[limits] * (free * parts)).view(1, -1, free, parts)
        repeated = corners.repeat_interleave(width, -1)  # the same in each component
        features = Vectors(repeated).features(predictor, group)[0].unflatten(1, (-1, width))[:, :, 0]
        self._features = features.flatten(0, 1).mT.contiguous()  # [corners, numbers]: atoms · relation parts
        self._numbers = features.shape[1]
        self._forms = forms.like(features)
        self._of_one_form = self._times(features.new_ones(len(group), 1)) if len(forms.offsets) == 1 else None

    def weighed(self, weights: Tensor | None) -> CornerFeatures:
        """Return the features of the forms weighed by λ [clauses, forms]; one form needs none."""
        if self._of_one_form is not None:
            return self._of_one_form
        assert weights is not None
        return self._times(weights)

    def _times(self, weights: Tensor) -> CornerFeatures:
        by_number = (weights @ self._forms.matrix).repeat_interleave(self._numbers, 1)  # [clauses, numbers]
        return CornerFeatures(by_number.unsqueeze(1) * self._features, weights @ self._forms.offsets)


def largest_by_corners(predictor: LinkPredictor, group: ClauseGroup, corners: CornerFeatures) -> Tensor:
    """Return Σᵢ maxₖ ⟨f(k), r[i]⟩ plus the constant part [clauses]."""
    relations = predictor.relation(group.relations)  # [clauses, atoms, relation_dim]
    by_component = relations.view(len(group), corners.features.shape[2], -1)  # [clauses, numbers, components]
    return torch.bmm(corners.features, by_component).max(1).values.sum(-1) + corners.constants


def _parts(predictor: LinkPredictor) -> int:
    assert predictor.scorer.terms is not None
    return predictor.scorer.terms.parts


def _all_tensors(prepared: Sequence[GroupSet | Tensor | list[CornerFeatures]]) -> list[Tensor]:
    tensors: list[Tensor] = []
    for one in prepared:
        if isinstance(one, Tensor):
            tensors.append(one)
        elif isinstance(one, GroupSet):
            tensors += [tensor for tensor in one.tensors().values() if tensor.numel()]
        else:
            tensors += [tensor for corners in one for tensor in corners]
    return tensors
