"""Which kernels there are for the clauses of a predictor."""

from __future__ import annotations

from functools import cache

import torch

from clausal.kernels import ClauseKernels, Terms, find_clause_kernels
from clausal.model.predictor import LinkPredictor


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
