"""Which kernels there are for the clauses of a predictor, and what all of them read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

from clausal.consistency.clauses import ClauseGroup
from clausal.kernels import ClauseKernels, Terms, find_clause_kernels
from clausal.model.predictor import LinkPredictor


def can_fuse(predictor: LinkPredictor) -> bool:
    """Tell whether this machine has kernels for a predictor."""
    return predictor.scorer.terms is not None and find_clause_kernels(predictor.device) is not None


def kernels_for(predictor: LinkPredictor) -> ClauseKernels:
    """Return the kernels of a predictor that can be fused."""
    assert predictor.scorer.terms is not None
    return _make_kernels(predictor.scorer.terms, predictor.device)


def relations_of(predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> Tensor:
    """Look up the relations of all atoms of all clauses at once [atoms, relation_dim], in the order of the groups."""
    return predictor.relation(torch.cat([group.relations.flatten() for group in groups]))


@cache
def _make_kernels(terms: Terms, device: torch.device) -> ClauseKernels:
    make = find_clause_kernels(device)
    assert make is not None
    return make(terms)
