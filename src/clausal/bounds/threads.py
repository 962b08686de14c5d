"""Threads for the searches of bounds: many short operations, at each of which torch's threads wait for each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_FEW_NUMBERS = 1 << 20


@contextmanager
def threads_for(numbers: int) -> Iterator[None]:
    """Let torch work by one thread on tables of few numbers: beside other programs, waiting takes many times longer."""
    threads = torch.get_num_threads()
    if threads == 1 or numbers > _FEW_NUMBERS:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
