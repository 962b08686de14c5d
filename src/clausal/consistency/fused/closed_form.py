"""Closed forms on boxes by a kernel, which finds the best corners and, with them, the gradient."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from clausal.consistency.adversaries import AdversarialSet
from clausal.consistency.clauses import ClauseGroup
from clausal.consistency.closed_form import ClosedForm
from clausal.consistency.fused.kernels import kernels_for, relations_of
from clausal.kernels import ClauseKernels, Corners
from clausal.model.predictor import LinkPredictor

_Alternatives = list[Corners]


class FusedClosedForm(ClosedForm):
    """The same losses as the closed form; what is not at corners of a box is left to torch."""

    def constant_inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], constants: AdversarialSet
    ) -> Tensor:
        remaining, fused, found = iter(constants), {}, {}
        for group in groups:
            alternatives = self._alternatives(predictor, group, remaining)
            if alternatives is None:
                found[group] = self._constant_violation(predictor, group, remaining)
            else:
                fused[group] = alternatives
        if fused:
            shapes = [group.relations.shape for group in fused]
            relations = relations_of(predictor, list(fused))
            largest = _LargestByCorners.apply(kernels_for(predictor), list(fused.values()), shapes, relations)
            if len(fused) == len(groups):
                return largest
            found |= zip(fused, largest.split([len(group.clauses) for group in fused]), strict=True)
        return torch.cat([found[group] for group in groups])

    def _alternatives(
        self, predictor: LinkPredictor, group: ClauseGroup, constants: Iterator[Tensor]
    ) -> _Alternatives | None:
        treatment = self._treatment(predictor, group)
        if treatment is None or not self._at_corners(predictor, group):
            return None
        return [Corners(next(constants), next(constants)) for _ in treatment.alternatives]


class _LargestByCorners(torch.autograd.Function):
    """The largest violation of each clause of several shapes, differentiable in the relations of all atoms."""

    @staticmethod
    def forward(
        ctx: Any,
        kernels: ClauseKernels,
        alternatives: Sequence[_Alternatives],
        shapes: Sequence[tuple[int, int]],  # clauses and atoms of each shape
        relations: Tensor,  # [atoms of all clauses, relation_dim]
    ) -> Tensor:
        largest, ctx.gradients = [], []
        by_shape = relations.split([clauses * atoms for clauses, atoms in shapes])
        for corners, (clauses, _), of_shape in zip(alternatives, shapes, by_shape, strict=True):
            numbers = corners[0].features.shape[2]
            values, gradient = kernels.largest_by_corners(corners, of_shape.view(clauses, numbers, -1))
            largest.append(values)
            ctx.gradients.append(gradient)
        ctx.shape = relations.shape
        return torch.cat(largest)

    @staticmethod
    def backward(ctx: Any, slopes: Tensor) -> tuple[None, None, None, Tensor]:
        by_shape = slopes.split([len(gradient) for gradient in ctx.gradients])
        gradients = [
            (slope[:, None, None] * gradient).flatten() for slope, gradient in zip(by_shape, ctx.gradients, strict=True)
        ]
        return None, None, None, torch.cat(gradients).view(ctx.shape)
