"""Clauses by CPU kernels: ascent on adversarial sets, and the inconsistency loss with its gradient.

Kernels know the gradient of a trilinear score, and of violations made of linear forms, as Gödel's are. What another
semantics or pooling makes of the scores is left to autograd, a few numbers for each set. Clauses that name entities,
whose vectors are trained, are left to torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from clausal.adversary.adversary import AdversarialSet, Adversary, GroupSet, Vectors
from clausal.adversary.ascent import SHARES, GradientAscent, RealEntities, ascend
from clausal.adversary.clauses import ArgumentSlots, ClauseGroup
from clausal.adversary.closed_form import ClosedForm, WorstCase
from clausal.adversary.forms import violation_forms
from clausal.adversary.regions import resolved
from clausal.adversary.semantics import Semantics
from clausal.fast.cpu.clauses import CPUClauseKernels
from clausal.fast.features import FeatureLoss, has_features, is_at_corners, pair_form, searches_vectors
from clausal.fast.kernels import BallForm, BoundSets, CornerFeatures, Forms
from clausal.logic.shape import Skeleton
from clausal.model.domains import Ball, Box, Projection, Sphere
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import Terms


def ascend_by_kernels(
    ascent: GradientAscent, predictor: LinkPredictor, groups: Sequence[ClauseGroup], start: Sequence[Vectors]
) -> list[Vectors]:
    """Do what ``ascend`` does by kernels."""
    found = list(start)
    others = [i for i, group in enumerate(groups) if not _is_climbed(ascent, predictor, group)]
    by_torch = ascend(ascent, predictor, [groups[i] for i in others], [found[i] for i in others])
    for i, one in zip(others, by_torch, strict=True):
        found[i] = one
    fused = [i for i in range(len(groups)) if i not in others]
    for i in fused:
        found[i] = Vectors(found[i].vectors.detach().contiguous())
    if fused:
        climb_ = _alternate_ if ascent.optimizer == "alternating" else _ascend_
        climb_(ascent, predictor, [groups[i] for i in fused], [found[i].vectors for i in fused])
    return found


def _is_climbed(ascent: GradientAscent, predictor: LinkPredictor, group: ClauseGroup) -> bool:
    """Tell whether kernels climb on the sets of a group; alternating steps are known on domains, and by forms."""
    if not has_features(predictor, group):
        return False
    if ascent.optimizer != "alternating":
        return True
    bounded = isinstance(predictor.domain, Box | Sphere | Ball) and resolved(ascent.region, predictor) == "domain"
    return bounded and _packed_forms(group.shape.formula, ascent.semantics) is not None


def _alternate_(
    ascent: GradientAscent, predictor: LinkPredictor, groups: Sequence[ClauseGroup], sets: Sequence[Tensor]
) -> None:
    forms = [_packed_forms(group.shape.formula, ascent.semantics) for group in groups]
    known, onto = [one for one in forms if one is not None], predictor.domain.projection
    assert onto is not None
    bound = _bind(groups, sets, predictor.relations)
    _kernels_of(predictor).alternate_(bound, known, SHARES, ascent.steps, onto)


def _ascend_(
    ascent: GradientAscent, predictor: LinkPredictor, groups: Sequence[ClauseGroup], sets: Sequence[Tensor]
) -> None:
    bound = _bind(groups, sets, predictor.relations)
    kernels = _kernels_of(predictor)
    plain = ascent.optimizer == "sgd"
    sums = [torch.full_like(vectors[:0] if plain else vectors, 0.1) for vectors in sets]
    onto = predictor.domain.projection if resolved(ascent.region, predictor) == "domain" else None
    projections = ascent.projections(predictor, groups)
    weights = torch.ones(sum(map(len, groups)))
    for _ in range(ascent.steps):
        _, slopes = _violations(ascent.climbed, kernels, groups, kernels.score(bound), weights)
        kernels.ascend_(bound, sums, slopes, ascent.learning_rate, onto or Projection())
        if onto is None:
            for vectors, project_ in zip(sets, projections, strict=True):
                project_(vectors)


class KernelLoss(FeatureLoss):
    """The inconsistency loss by kernels, which also add its gradient without autograd where they can."""

    def __init__(self, adversary: Adversary, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> None:
        super().__init__(adversary, predictor, groups)
        self._kernels = _kernels_of(predictor)
        self._searcher = searches_vectors(adversary)
        self._at_corners = all(is_at_corners(adversary, predictor, group) for group in groups)
        self._pairs = [pair_form(adversary, predictor, group) for group in groups]
        self._fused = False

    def adopt(self, found: AdversarialSet) -> None:
        super().adopt(found)
        # Kernels score the vectors themselves, all groups together where they can.
        self._fused = self._searcher is not None and all(map(self._is_fused, self.groups, found))

    def __call__(self) -> Tensor:
        if not self._fused:
            return super().__call__()
        assert self._searcher is not None
        scores = _Scores.apply(self._kernels, self.groups, self._vectors(), self.predictor.relations)
        return _pooled(self._searcher, self.groups, scores)

    def add_gradient(self, slopes: Tensor, into: Tensor) -> Tensor | None:
        if self._fused:
            assert self._searcher is not None
            bound = _bind(self.groups, self._vectors(), self.predictor.relations)
            inconsistency, by_scores = _violations(
                self._searcher, self._kernels, self.groups, self._kernels.score(bound), slopes
            )
            self._kernels.add_relation_gradients(bound, by_scores, into)
            return inconsistency
        corners = [one for one in self._prepared if isinstance(one, list)]
        if self._at_corners and len(corners) == len(self.groups):
            return self._add_gradient_at_corners(corners, slopes, into)
        if any(self._pairs) and not any(group.shape.constants for group in self.groups):
            return self._add_gradient_on_balls(slopes, into)
        return None

    def _prepare(self, group: ClauseGroup, found: GroupSet) -> GroupSet | Tensor | list[CornerFeatures]:
        if self._is_fused(group, found):
            assert isinstance(found, Vectors)
            return Vectors(found.vectors.detach().clone())
        return super()._prepare(group, found)

    def _inconsistency_of(self, group: ClauseGroup, prepared: GroupSet | Tensor | list[CornerFeatures]) -> Tensor:
        if isinstance(prepared, Vectors) and self._is_fused(group, prepared):
            assert self._searcher is not None
            scores = _Scores.apply(self._kernels, [group], [prepared.vectors], self.predictor.relations)
            return _pooled(self._searcher, [group], scores)
        return super()._inconsistency_of(group, prepared)

    def _is_fused(self, group: ClauseGroup, found: GroupSet) -> bool:
        return isinstance(found, Vectors) and self._searcher is not None and has_features(self.predictor, group)

    def _vectors(self) -> list[Tensor]:
        return [one.vectors for one in self._prepared if isinstance(one, Vectors)]

    def _add_gradient_at_corners(self, corners: Sequence[list[CornerFeatures]], slopes: Tensor, into: Tensor) -> Tensor:
        largest = []
        by_group = slopes.split([len(group) for group in self.groups])
        for group, of_group, alternatives in zip(self.groups, by_group, corners, strict=True):
            relations = self.predictor.relations
            largest.append(self._kernels.add_by_corners(alternatives, group.relations, relations, of_group, into))
        return torch.cat(largest)

    def _add_gradient_on_balls(self, slopes: Tensor, into: Tensor) -> Tensor:
        """Add the gradient of closed forms and bounds by kernels, and that of other groups by autograd."""
        relations, largest = self.predictor.relations, []
        by_group = slopes.split([len(group) for group in self.groups])
        for group, pairs, of_group, prepared in zip(self.groups, self._pairs, by_group, self._prepared, strict=True):
            if pairs is not None:
                largest.append(self._kernels.add_of_pairs(pairs, group.relations, relations, of_group, into))
                continue
            ball = ball_form(self.adversary, self.predictor, group, prepared)
            if ball is not None:
                largest.append(self._kernels.add_on_balls(ball, group.relations, relations, of_group, into))
                continue
            inconsistency = self._inconsistency_of(group, prepared)
            (gradient,) = torch.autograd.grad((of_group * inconsistency).sum(), relations)
            into += gradient
            largest.append(inconsistency.detach())
        return torch.cat(largest)


def ball_form(adversary: Adversary, predictor: LinkPredictor, group: ClauseGroup, prepared: object) -> BallForm | None:
    """Return the one alternative of a group with the λ and μ that were found for it; None where there is none."""
    if not isinstance(prepared, WorstCase) or not isinstance(adversary, ClosedForm):
        return None
    alternatives, slots = adversary.alternatives(predictor, group), group.slots(predictor)
    if not alternatives or len(alternatives) > 1 or prepared.weights[0] is None or prepared.multipliers[0] is None:
        return None
    if any(subject == object for subject, object in zip(*slots.positions, strict=True)):
        return None
    terms, forms, weights = predictor.scorer.terms, alternatives[0].like(predictor.relations), prepared.weights[0]
    assert terms is not None
    return BallForm(
        weights @ forms.matrix,
        weights @ forms.offsets,
        prepared.multipliers[0][:, 0].contiguous(),
        tuple(slots.positions[0]),
        tuple(slots.positions[1]),
        isinstance(predictor.domain, Sphere),
        predictor.scorer.dim // terms.parts,
    )


class _Scores(torch.autograd.Function):
    """The scores of the atoms of each group, differentiable in the relations [relations, relation_dim]."""

    @staticmethod
    def forward(
        ctx: Any,
        kernels: CPUClauseKernels,
        groups: Sequence[ClauseGroup],
        sets: Sequence[Tensor],
        relations: Tensor,
    ) -> tuple[Tensor, ...]:
        ctx.kernels, ctx.bound = kernels, _bind(groups, sets, relations)
        return tuple(kernels.score(ctx.bound))

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[None, None, None, Tensor]:
        gradient = torch.zeros_like(ctx.bound[0].relations)
        ctx.kernels.add_relation_gradients(ctx.bound, slopes, gradient)
        return None, None, None, gradient


def _violations(
    searcher: RealEntities,
    kernels: CPUClauseKernels,
    groups: Sequence[ClauseGroup],
    scores: Sequence[Tensor],
    weights: Tensor,
) -> tuple[Tensor, Sequence[Tensor]]:
    """Return the inconsistency of each clause, and its gradient by the scores times weights [clauses]."""
    forms = [_packed_forms(group.shape.formula, searcher.semantics) for group in groups]
    known = [one for one in forms if one is not None]
    if len(known) < len(forms) or searcher.pooling not in ("sum", "mean"):
        scores = [of_group.requires_grad_() for of_group in scores]
        inconsistency = _pooled(searcher, groups, scores)
        return inconsistency.detach(), torch.autograd.grad(inconsistency, scores, weights)
    share = 1 / searcher.sets if searcher.pooling == "mean" else 1
    by_group = (share * weights).split([len(group) for group in groups])
    sums, slopes = kernels.violations(scores, known, by_group)
    return share * torch.cat(sums), slopes


def _pooled(searcher: RealEntities, groups: Sequence[ClauseGroup], scores: Sequence[Tensor]) -> Tensor:
    """Return the inconsistency of each clause, given the scores of its atoms [clauses, sets, atoms]."""
    violations = (
        searcher.semantics.violation(group.shape.formula, of_group)
        for group, of_group in zip(groups, scores, strict=True)
    )
    return torch.cat([searcher.pool(violation) for violation in violations])


def _bind(groups: Sequence[ClauseGroup], sets: Sequence[Tensor], relations: Tensor) -> list[BoundSets]:
    bound = []
    for group, vectors in zip(groups, sets, strict=True):
        subjects, objects = map(tuple, ArgumentSlots.of(group.shape).positions)
        bound.append(BoundSets(vectors, relations.detach(), group.relations, subjects, objects))
    return bound


def _kernels_of(predictor: LinkPredictor) -> CPUClauseKernels:
    assert predictor.scorer.terms is not None
    return _make_kernels(predictor.scorer.terms)


@cache
def _make_kernels(terms: Terms) -> CPUClauseKernels:
    return CPUClauseKernels(terms)


@cache
def _packed_forms(formula: Skeleton, semantics: Semantics) -> Forms | None:
    """Return the forms of all alternatives, one after the other; None where a violation is not made of forms."""
    alternatives = violation_forms(formula, semantics)
    if not alternatives:
        return None
    return Forms(
        torch.cat([forms.matrix for forms in alternatives]).float(),
        torch.cat([forms.offsets for forms in alternatives]).float(),
        torch.tensor(list(accumulate(len(forms.offsets) for forms in alternatives))),
    )
