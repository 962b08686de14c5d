"""Widest paths by falling strength: a step counts only where it leads to entities that stronger ones do not reach.

Steps are taken from the strongest on. Every entity has two sets of bits: whom it reaches so far, and who reaches it.
A step from u to v matters if u does not reach v yet: then all that reach u reach what v does, and the strength of this
step is that of the widest path to whatever is new. Soon everything reaches everything, and the weaker steps are not
even sorted. Where all steps lead both ways there is a shorter way (``spanning.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from clausal.fast.cpu.compiling import as_array, compiled_kernel, inlined
from clausal.fast.cpu.spanning import widen_by_tree_

_SHARES = (0.002, 0.01, 0.05, 0.2, 1.0)
"""Shares of the steps that are sorted in turn."""
_SAMPLE = 1 << 20
_WORD = 64


def widen_compiled_(steps: Tensor, raise_by_product: Any, carried: Tensor | None = None) -> None:
    """Do what ``widen_`` does, by a kernel: what is carried is a step to a place from which none leads on."""
    count = len(steps)
    if not count:
        return
    if torch.equal(steps, steps.T):
        widen_by_tree_(steps, carried)
        return
    both = steps if carried is None else torch.cat([steps, carried], 1)
    widest = torch.full_like(both, -torch.inf)
    reached, reaching = (
        np.zeros((rows, -(-columns // _WORD)), np.uint64) for rows, columns in (both.shape, both.shape[::-1])
    )
    ordered = both.flatten()[:: max(1, both.numel() // _SAMPLE)].sort(descending=True).values
    upper, found = torch.inf, 0
    for share in _SHARES:
        lower = -torch.inf if share == 1 else float(ordered[int(share * (len(ordered) - 1))])
        places = ((both > lower) & (both <= upper)).flatten().nonzero().squeeze(1)
        values, order = both.flatten()[places].sort(descending=True, stable=True)
        found += int(_take(as_array(places[order]), as_array(values), reached, reaching, as_array(widest)))
        upper = lower
        if found == count * count:  # everyone reaches everyone by stronger steps than what is left to carry
            break
    if carried is not None:
        rest = widest[:, count:]
        if found == count * count:
            rest = torch.where(rest == -torch.inf, carried.amax(0), rest)
        torch.maximum(carried, rest, out=carried)
    steps.copy_(widest[:, :count])


@compiled_kernel
def _take(places, values, reached, reaching, widest):  # type: ignore[no-untyped-def]
    count, width = widest.shape
    words, parts = reached.shape[1], reaching.shape[1]
    one, found = np.uint64(1), 0
    for step in range(len(places)):
        u, v = places[step] // width, places[step] % width
        if (reached[u, v // 64] >> np.uint64(v % 64)) & one:
            continue
        for part in range(parts):
            before = reaching[u, part]
            if part == u // 64:
                before |= one << np.uint64(u % 64)
            before &= ~reaching[v, part]
            while before:
                lowest = before & (~before + one)
                before ^= lowest
                x = part * 64 + _place(lowest)
                for word in range(words):
                    more = reached[v, word] if v < count else np.uint64(0)
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
                        found += z < count
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
