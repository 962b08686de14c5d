"""Widest paths by falling strength: a step counts only where it leads to entities that stronger ones do not reach.

Steps are taken from the strongest on. Every entity has two sets of bits: whom it reaches so far, and who reaches it.
A step from u to v matters if u does not reach v yet: then all that reach u reach what v does, and the strength of this
step is that of the widest path to whatever is new. Soon everything reaches everything, and the weaker steps are not
even sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.fast.cpu.compiling import as_array, compiled_kernel, inlined

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
    sets = np.zeros((2, count, -(-count // _WORD)), np.uint64)
    sample = steps.flatten()[:: max(1, steps.numel() // _SAMPLE)]
    ordered = sample.sort(descending=True).values
    upper, found = torch.inf, 0
    for share in _SHARES:
        last = share == _SHARES[-1]
        lower = -torch.inf if last else float(ordered[int(share * (len(ordered) - 1))])
        found += _add_steps(steps, upper, lower, sets, widest)
        upper = lower
        if found == count * count:
            break
    steps.copy_(widest)


def _add_steps(steps: Tensor, upper: float, lower: float, sets: NDArray[np.uint64], widest: Tensor) -> int:
    """Add the steps that are stronger than ``lower`` and not stronger than ``upper``; return how many pairs are new."""
    places = ((steps > lower) & (steps <= upper)).flatten().nonzero().squeeze(1)
    values, order = steps.flatten()[places].sort(descending=True, stable=True)
    return int(_take(as_array(places[order]), as_array(values), sets[0], sets[1], as_array(widest)))


@compiled_kernel
def _take(places, values, reached, reaching, widest):  # type: ignore[no-untyped-def]
    count, words = reached.shape
    one, found = np.uint64(1), 0
    for step in range(len(places)):
        u, v = places[step] // count, places[step] % count
        if (reached[u, v // 64] >> np.uint64(v % 64)) & one:
            continue
        for part in range(words):
            before = reaching[u, part]
            if part == u // 64:
                before |= one << np.uint64(u % 64)
            before &= ~reaching[v, part]
            while before:
                lowest = before & (~before + one)
                before ^= lowest
                x = part * 64 + _place(lowest)
                for word in range(words):
                    more = reached[v, word]
                    if word == v // 64:
                        more |= one << np.uint64(v % 64)
                    more &= ~reached[x, word]
                    reached[x, word] |= more
                    while more:
                        lowest = more & (~more + one)
                        more ^= lowest
                        z = word * 64 + _place(lowest)
                        reaching[z, x // 64] |= one << np.uint64(x % 64)
                        widest[x, z] = values[step]
                        found += 1
    return found


@inlined
def _place(bit):  # type: ignore[no-untyped-def]
    """Return the place of the one bit that is set."""
    place = 0
    for shift in (32, 16, 8, 4, 2, 1):
        if bit >> np.uint64(shift):
            bit >>= np.uint64(shift)
            place += shift
    return place
