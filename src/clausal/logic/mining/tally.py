"""A table of counts by key inside kernels: open addressing in two arrays that grow."""

from __future__ import annotations

from typing import Any

import numpy as np

from clausal.logic.mining.compiling import part

_EMPTY = -1


@part
def new_tally(size: int) -> Any:
    """Return the keys and counts of an empty table; ``size`` is a power of two."""
    return np.full(size, _EMPTY, np.int64), np.zeros(size, np.int64)


@part
def slot_of(keys: Any, key: int) -> Any:
    """Return where a key is, or where it would be."""
    mask = len(keys) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(mixed >> np.uint64(20)) & mask
    while keys[slot] != key and keys[slot] != _EMPTY:
        slot = (slot + 1) & mask
    return slot


@part
def grown(keys: Any, counts: Any) -> Any:
    """Return the same table in arrays of twice the size."""
    new_keys, new_counts = new_tally(2 * len(keys))
    for old in range(len(keys)):
        if keys[old] != _EMPTY:
            slot = slot_of(new_keys, keys[old])
            new_keys[slot], new_counts[slot] = keys[old], counts[old]
    return new_keys, new_counts


@part
def contents(keys: Any, counts: Any) -> Any:
    """Return the keys that were counted, sorted, and their counts."""
    used = np.flatnonzero(keys != _EMPTY)
    order = used[np.argsort(keys[used])]
    return keys[order], counts[order]
