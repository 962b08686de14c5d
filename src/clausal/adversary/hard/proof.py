"""Proofs by order: clauses that no vector of a region can break, as the parameters are ordered or equal."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.hard.demands import Below, Demand
from clausal.adversary.hard.feasible import holds_by_order
from clausal.adversary.hard.selection import asked_of
from clausal.adversary.semantics import Godel, Semantics, Sum, Threshold
from clausal.choices import RegionName
from clausal.model.orders import parameter_order
from clausal.model.predictor import LinkPredictor


@torch.no_grad()
def proven(predictor: LinkPredictor, group: ClauseGroup, semantics: Semantics, region: RegionName) -> Tensor:
    """Tell of each clause whether the order of parameters proves that it holds over a region [clauses].

    Parameters are compared as they are stored, so that nothing is rounded.
    """
    found = torch.zeros(len(group), dtype=torch.bool, device=predictor.device)
    never_negative = predictor.domain.never_negative(predictor.scorer.dim)
    if region == "discs":  # which hold vectors of both signs
        never_negative = torch.zeros_like(never_negative)
    order = parameter_order(predictor.scorer, never_negative)
    if order is None:
        return found
    for place, (_, asked) in enumerate(asked_of([group], predictor)):
        if not isinstance(asked, str) and _compares_scores(semantics, len(group.shape.atoms), asked):
            found[place] = holds_by_order(predictor, order, asked)
    return found


def _compares_scores(semantics: Semantics, atoms: int, asked: Sequence[Demand]) -> bool:
    """Tell whether a clause holds by a semantics where its demands are obeyed.

    Then the least body scores at most what the largest head does, or 0 where there is no other side.
    """
    if isinstance(semantics, Threshold):
        one_sided = [one for one in asked if isinstance(one, Below) and not (one.bodies and one.heads)]
        return all(semantics.body >= 0 if one.bodies else semantics.head <= 0 for one in one_sided) and (
            semantics.head <= semantics.body
        )
    return isinstance(semantics, Godel) and not (isinstance(semantics, Sum) and atoms > 2)
