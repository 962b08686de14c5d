"""Randomness by position: each draw's generator is seeded by the seed and by where in the training it is.

Nothing has to be saved to resume a training exactly, as no generator outlives the place that it belongs to.
"""

from __future__ import annotations

import numpy as np
import torch


def generator_at(seed: int, *position: int, device: torch.device | None = None) -> torch.Generator:
    """Return a generator for one position, such as (stream, epoch, pass)."""
    return torch.Generator(device=device or "cpu").manual_seed(seed_at(seed, *position))


def seed_at(seed: int, *position: int) -> int:
    """Mix a seed and a position into one seed."""
    (mixed,) = np.random.SeedSequence([seed, *position]).generate_state(1, np.uint64)
    return int(mixed) >> 1
