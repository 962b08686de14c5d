"""Ranges of positions, expanded without a loop: how groups of different sizes are looked up at once."""

from __future__ import annotations

import torch
from torch import Tensor


def ranges(start: Tensor, stop: Tensor) -> tuple[Tensor, Tensor]:
    """Expand ranges [start, stop) into (which range, position) pairs."""
    lengths = stop - start
    which = torch.repeat_interleave(torch.arange(len(start), device=start.device), lengths)
    offset = torch.arange(len(which), device=start.device) - (lengths.cumsum(0) - lengths)[which]
    return which, start[which] + offset
