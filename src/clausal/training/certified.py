"""The certified inconsistency while training: bounds on what any adversary could find, next to what one has found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.closed_form import ClosedForm
from clausal.adversary.parts import count_clauses, deal
from clausal.adversary.reciprocal import by_clause
from clausal.model.predictor import LinkPredictor

_MOST_CLAUSES = 1000
"""Of more clauses than these a sample is bounded: the same at each validation, so that figures can be compared."""


@dataclass(frozen=True)
class Certified:
    """The weighted sum of the bounds, over how many clauses, and how many of them are certified to hold.

    Of a sample of clauses the sum is an estimate of that over all.
    """

    inconsistency: float
    clauses: int
    holding: int


class CertifiedInconsistency:
    """Bounds the largest violation of each clause that has a bound, for the model as it is."""

    def __init__(self, bounds: ClosedForm, groups: Sequence[ClauseGroup], tolerance: float) -> None:
        self.bounds = bounds
        self.groups = groups
        self.tolerance = tolerance

    @torch.no_grad()
    def __call__(self, predictor: LinkPredictor) -> dict[str, Any]:
        """Return the record for the log; nothing where no clause has a bound."""
        treated = [group for group in self.groups if self.bounds.treats(predictor, group)]
        if not treated:
            return {}
        parts = -(-count_clauses(treated) // _MOST_CLAUSES)
        (groups,) = deal(treated, parts, 1, torch.Generator().manual_seed(0))
        bounds = self.bounds.inconsistency(predictor, groups, self.bounds.find(predictor, groups))
        weights = torch.cat([group.weights for group in groups])
        largest = by_clause(groups, bounds)
        record = Certified(
            inconsistency=parts
            * (weights * bounds).sum().item(),  # of every reading, as the losses that training adds up
            clauses=len(largest),
            holding=int((largest <= self.tolerance).sum()),
        )
        return {"certified": asdict(record) | ({"estimated": True} if parts > 1 else {})}
