"""What both sides do: dimension 200, ten batches in a pass, one corrupted subject and one corrupted object."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import Any

DIM, BATCHES = 200, 10
TRAINING = 100
"""Passes of a full training."""
EPOCH = 10
"""Passes of an epoch: the adversary moves before the first of them."""


def seconds_of_pass(marks: list[float], warm: int) -> float:
    """Return the median seconds of a pass from the times at which passes ended, the first ``warm`` left out."""
    return median(later - earlier for earlier, later in pairwise(marks[warm:]))


def seconds(work: Callable[[], Any], repeats: int = 1) -> float:
    """Return the median seconds of some work."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return median(taken)
