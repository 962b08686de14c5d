"""Pooling: one violation for each clause from its B adversarial sets."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Pooling = Callable[[Tensor], Tensor]
"""[clauses, sets] → [clauses]."""

POOLINGS: dict[str, Pooling] = {
    "sum": lambda violations: violations.sum(1),
    "mean": lambda violations: violations.mean(1),
    "max": lambda violations: violations.amax(1),
    "logsumexp": lambda violations: torch.logsumexp(violations, 1),
}
