"""Closed forms on boxes by a kernel, which finds the best corners and, with them, the gradient."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from clausal.adversary.ascent import AdversarialSet
from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.closed_form import ClosedForm
from clausal.fast.ascent import kernels_for
from clausal.fast.kernels import Corners
from clausal.model.predictor import LinkPredictor


class FusedClosedForm(ClosedForm):
    """The same losses as the closed form, with their gradient where all clauses are treated at corners of a box."""

    def add_gradient(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        constants: AdversarialSet,
        slopes: Tensor,
        into: Tensor,
    ) -> Tensor | None:
        kernels, remaining, largest = kernels_for(predictor), iter(constants), []
        if not all(self.treats(predictor, group) and self._at_corners(predictor, group) for group in groups):
            return None
        by_group = slopes.split([len(group.clauses) for group in groups])
        for group, of_group in zip(groups, by_group, strict=True):
            treatment = self._treatment(predictor, group)
            assert treatment is not None
            corners = [Corners(next(remaining), next(remaining)) for _ in treatment.alternatives]
            largest.append(kernels.add_by_corners(corners, group.relations, predictor.relations, of_group, into))
        return torch.cat(largest)
