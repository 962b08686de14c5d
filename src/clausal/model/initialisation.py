"""Uniform Xavier initialisation over a whole matrix, as the paper's models are initialised."""

from __future__ import annotations

import math

import torch
from torch import Tensor


@torch.no_grad()
def xavier_(weight: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Fill a matrix [rows, columns] uniformly in ±√(6 / (rows + columns))."""
    rows, columns = weight.shape
    bound = math.sqrt(6 / (rows + columns))
    return weight.uniform_(-bound, bound, generator=generator)
