"""Small tools on tensors: Xavier's initialisation, ranges of positions, products, generators of random numbers.

A generator is seeded by the seed and by where in the training it is used. No generator outlives its place, so nothing
has to be saved to resume a training exactly.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor


@torch.no_grad()
def xavier_(weight: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Fill a matrix [rows, columns] uniformly in ±√(6 / (rows + columns))."""
    rows, columns = weight.shape
    bound = math.sqrt(6 / (rows + columns))
    return weight.uniform_(-bound, bound, generator=generator)


def ranges(start: Tensor, stop: Tensor) -> tuple[Tensor, Tensor]:
    """Expand ranges [start, stop) into (which range, position) pairs."""
    lengths = stop - start
    which = torch.repeat_interleave(torch.arange(len(start), device=start.device), lengths)
    offset = torch.arange(len(which), device=start.device) - (lengths.cumsum(0) - lengths)[which]
    return which, start[which] + offset


def inner_products(queries: Tensor, candidates: Tensor) -> Tensor:
    """Return ⟨q, e⟩ of all queries [b, dim] and candidates [n, dim] → [b, n]."""
    return queries @ candidates.T


def generator_at(seed: int, *position: int, device: torch.device | None = None) -> torch.Generator:
    """Return a generator for one position, such as (stream, epoch, pass)."""
    return torch.Generator(device=device or "cpu").manual_seed(seed_at(seed, *position))


def seed_at(seed: int, *position: int) -> int:
    """Mix a seed and a position into one seed."""
    (mixed,) = np.random.SeedSequence([seed, *position]).generate_state(1, np.uint64)
    return int(mixed) >> 1
