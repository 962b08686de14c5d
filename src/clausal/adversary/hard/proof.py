"""Proofs by order: clauses that no vector of a region can break, as the parameters are ordered or equal."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.hard.feasible import holds_by_order
from clausal.adversary.hard.selection import asked_of
from clausal.adversary.semantics import Godel, Semantics, Sum, Threshold
from clausal.choices import RegionName
from clausal.model.domains import is_non_negative
from clausal.model.orders import parameter_order
from clausal.model.predictor import LinkPredictor


@torch.no_grad()
def proven(predictor: LinkPredictor, group: ClauseGroup, semantics: Semantics, region: RegionName) -> Tensor:
    """Tell of each clause whether the order of parameters proves that it holds over a region [clauses].

    Parameters are compared as they are stored, so that nothing is rounded.
    """
    found = torch.zeros(len(group), dtype=torch.bool, device=predictor.device)
    order = parameter_order(predictor.scorer)
    if order is None or not _compares_scores(semantics, len(group.shape.atoms)):
        return found
    non_negative = is_non_negative(predictor.domain) and region != "discs"
    for place, (_, asked) in enumerate(asked_of([group], predictor)):
        if not isinstance(asked, str):
            found[place] = holds_by_order(predictor, order, asked, non_negative=non_negative)
    return found


def _compares_scores(semantics: Semantics, atoms: int) -> bool:
    """Tell whether a head obeys an implication where each of its atoms scores at least as much as the body's."""
    if isinstance(semantics, Threshold):
        return semantics.head <= semantics.body
    return isinstance(semantics, Godel) and not (isinstance(semantics, Sum) and atoms > 2)
