"""Which kernels there are for the clauses of a predictor.

The linear forms of a violation as kernels read them.

Gradient ascent by kernels: scores of sets and steps on them without autograd's tensors.

Kernels know the gradient of a trilinear score, and of violations made of linear forms, as Gödel's are. What another
semantics or pooling makes of the scores is left to autograd, a few numbers for each set.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from clausal.adversary.ascent import AdversarialSet, GradientAscent
from clausal.adversary.clauses import ArgumentSlots, ClauseGroup
from clausal.adversary.forms import violation_forms
from clausal.adversary.regions import resolved
from clausal.adversary.semantics import POOLINGS, Semantics
from clausal.fast.features import has_features
from clausal.fast.kernels import BoundSets, ClauseKernels, Forms, find_clause_kernels
from clausal.logic.shape import Skeleton
from clausal.model.domains import Projection
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import Terms


def can_fuse(predictor: LinkPredictor) -> bool:
    """Tell whether this machine has kernels for a predictor."""
    return predictor.scorer.terms is not None and find_clause_kernels(predictor.device) is not None


def kernels_for(predictor: LinkPredictor) -> ClauseKernels:
    """Return the kernels of a predictor that can be fused."""
    assert predictor.scorer.terms is not None
    return _make_kernels(predictor.scorer.terms, predictor.device)


@cache
def _make_kernels(terms: Terms, device: torch.device) -> ClauseKernels:
    make = find_clause_kernels(device)
    assert make is not None
    return make(terms)


@cache
def packed_forms(formula: Skeleton, semantics: Semantics) -> Forms | None:
    """Return the forms of all alternatives, one after the other; None where a violation is not made of forms."""
    alternatives = violation_forms(formula, semantics)
    if not alternatives:
        return None
    return Forms(
        torch.cat([forms.matrix for forms in alternatives]).float(),
        torch.cat([forms.offsets for forms in alternatives]).float(),
        torch.tensor(list(accumulate(len(forms.offsets) for forms in alternatives))),
    )


class FusedAscent(GradientAscent):
    """The same search and losses as gradient ascent, by kernels; clauses that name entities are left to torch."""

    def ascend(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> AdversarialSet:
        found = list(adversarial_set)
        others = [i for i, group in enumerate(groups) if not has_features(predictor, group)]
        by_torch = super().ascend(predictor, [groups[i] for i in others], [found[i] for i in others])
        for i, vectors in zip(others, by_torch, strict=True):
            found[i] = vectors
        fused = [i for i in range(len(groups)) if i not in others]
        for i in fused:
            found[i] = found[i].detach().contiguous()
        self._ascend(predictor, [groups[i] for i in fused], [found[i] for i in fused])
        return found

    def _ascend(self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], sets: AdversarialSet) -> None:
        if not groups:
            return
        bound = _bind(groups, sets, predictor.relations)
        kernels = kernels_for(predictor)
        sums = [torch.full_like(vectors, 0.1) for vectors in sets]
        onto = predictor.domain.projection if resolved(self.region, predictor) == "domain" else None
        project_ = self._projections(predictor, groups)
        weights = torch.ones(sum(len(group.clauses) for group in groups))
        for _ in range(self.steps):
            _, slopes = self._slopes(kernels, groups, kernels.score(bound), weights)
            kernels.ascend_(bound, sums, slopes, self.learning_rate, onto or Projection())
            if onto is None:
                for vectors, onto_region_ in zip(sets, project_, strict=True):
                    onto_region_(vectors)

    def while_constant(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> AdversarialSet:
        return adversarial_set  # kernels score the vectors themselves

    def constant_inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], constants: AdversarialSet
    ) -> Tensor:
        if not all(has_features(predictor, group) for group in groups):
            parts = [self._of_one(predictor, group, kept) for group, kept in zip(groups, constants, strict=True)]
            return torch.cat(parts)
        scores = _Scores.apply(kernels_for(predictor), groups, constants, predictor.relations)
        return self._inconsistency(groups, scores)

    def add_gradient(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        constants: AdversarialSet,
        slopes: Tensor,
        into: Tensor,
    ) -> Tensor | None:
        if not all(has_features(predictor, group) for group in groups):
            return None
        kernels, bound = kernels_for(predictor), _bind(groups, constants, predictor.relations)
        inconsistency, by_scores = self._slopes(kernels, groups, kernels.score(bound), slopes)
        kernels.add_relation_gradients(bound, by_scores, into)
        return inconsistency

    def _slopes(
        self, kernels: ClauseKernels, groups: Sequence[ClauseGroup], scores: Sequence[Tensor], weights: Tensor
    ) -> tuple[Tensor, Sequence[Tensor]]:
        """Return the inconsistency of each clause, and its gradient by the scores times weights [clauses]."""
        forms = [packed_forms(group.shape.formula, self.semantics) for group in groups]
        known = [one for one in forms if one is not None]
        if len(known) < len(forms) or self.pooling not in ("sum", "mean"):
            scores = [of_group.requires_grad_() for of_group in scores]
            inconsistency = self._inconsistency(groups, scores)
            return inconsistency.detach(), torch.autograd.grad(inconsistency, scores, weights)
        share = 1 / self.sets if self.pooling == "mean" else 1
        by_group = (share * weights).split([len(group.clauses) for group in groups])
        sums, slopes = kernels.violations(scores, known, by_group)
        return share * torch.cat(sums), slopes

    def _of_one(self, predictor: LinkPredictor, group: ClauseGroup, kept: Tensor) -> Tensor:
        if has_features(predictor, group):
            return self.constant_inconsistency(predictor, [group], [kept])
        return self.inconsistency(predictor, [group], [kept])

    def _inconsistency(self, groups: Sequence[ClauseGroup], scores: Sequence[Tensor]) -> Tensor:
        """Return the inconsistency of each clause, given the scores of its atoms [clauses, sets, atoms]."""
        pool = POOLINGS[self.pooling]
        return torch.cat(
            [
                pool(self.semantics.violation(group.shape.formula, of_group))
                for group, of_group in zip(groups, scores, strict=True)
            ]
        )


class _Scores(torch.autograd.Function):
    """The scores of the atoms of each group, differentiable in the relations [relations, relation_dim]."""

    @staticmethod
    def forward(
        ctx: Any, kernels: ClauseKernels, groups: Sequence[ClauseGroup], sets: AdversarialSet, relations: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.kernels, ctx.bound = kernels, _bind(groups, sets, relations)
        return tuple(kernels.score(ctx.bound))

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[None, None, None, Tensor]:
        gradient = torch.zeros_like(ctx.bound[0].relations)
        ctx.kernels.add_relation_gradients(ctx.bound, slopes, gradient)
        return None, None, None, gradient


def _bind(groups: Sequence[ClauseGroup], sets: AdversarialSet, relations: Tensor) -> list[BoundSets]:
    bound = []
    for group, vectors in zip(groups, sets, strict=True):
        subjects, objects = map(tuple, ArgumentSlots.of(group.shape, 2).positions)
        bound.append(BoundSets(vectors, relations.detach(), group.relations, subjects, objects))
    return bound
