"""Widest paths by falling strength: a step counts only where it leads to entities that stronger ones do not reach.

Steps are taken from the strongest on. Every entity has a set of bits, of those that it reaches so far. A step from u to
v matters if u does not reach v yet: then all that reach u reach what v does, and the strength of this step is that of
the widest path to whatever is new. Soon everything reaches everything, and the weaker steps are not even sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from clausal.fast.cpu.compiling import as_array, compiled_kernel

_SHARES = (0.002, 0.01, 0.05, 0.2, 1.0)
"""Shares of the steps that are sorted in turn."""
_SAMPLE = 1 << 20
_WORD = 64


def widen_compiled_(steps: Tensor, raise_by_product: Any) -> None:
    """Do what ``widen_`` does, by a kernel."""
    count = len(steps)
    if not count:
        return
    widest = torch.full_like(steps, -torch.inf)
    reached = np.zeros((count, -(-count // _WORD)), np.uint64)
    sample = steps.flatten()[:: max(1, steps.numel() // _SAMPLE)]
    ordered = sample.sort(descending=True).values
    upper, found = torch.inf, 0
    for share in _SHARES:
        last = share == _SHARES[-1]
        lower = -torch.inf if last else float(ordered[int(share * (len(ordered) - 1))])
        found += _add_steps(steps, upper, lower, reached, widest)
        upper = lower
        if found == count * count:
            break
    steps.copy_(widest)


def _add_steps(steps: Tensor, upper: float, lower: float, reached: np.ndarray, widest: Tensor) -> int:
    """Add the steps that are stronger than ``lower`` and not stronger than ``upper``; return how many pairs are new."""
    places = ((steps > lower) & (steps <= upper)).flatten().nonzero().squeeze(1)
    values, order = steps.flatten()[places].sort(descending=True, stable=True)
    return int(_take(as_array(places[order]), as_array(values), reached, as_array(widest)))


@compiled_kernel
def _take(places, values, reached, widest):  # type: ignore[no-untyped-def]
    count, words = reached.shape
    one, found = np.uint64(1), 0
    for step in range(len(places)):
        u, v = places[step] // count, places[step] % count
        if (reached[u, v // 64] >> np.uint64(v % 64)) & one:
            continue
        strength = values[step]
        for x in range(count):
            if x != u and not ((reached[x, u // 64] >> np.uint64(u % 64)) & one):
                continue
            if (reached[x, v // 64] >> np.uint64(v % 64)) & one:
                continue
            for word in range(words):
                more = reached[v, word]
                if word == v // 64:
                    more |= one << np.uint64(v % 64)
                more &= ~reached[x, word]
                if not more:
                    continue
                reached[x, word] |= more
                for bit in range(64):
                    if (more >> np.uint64(bit)) & one:
                        widest[x, word * 64 + bit] = strength
                        found += 1
    return found
