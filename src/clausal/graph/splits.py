"""A seeded random split of facts in which train keeps every entity and every relation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError
from clausal.graph.facts import Facts


@dataclass(frozen=True)
class DrawnSplit:
    """How facts were held out at random: the shares of valid and test, and the seed."""

    valid: float
    test: float
    seed: int


def split_facts(facts: Facts, *, valid: float = 0.1, test: float = 0.1, seed: int = 0) -> tuple[Facts, Facts, Facts]:
    """Split facts into train, valid and test, in linear time; each split keeps the order of ``facts``.

    ``valid`` and ``test`` are shares of all facts. Every entity and relation of valid and test also occurs in
    train; where that leaves too few facts to hold out, valid and test shrink by the same factor.
    """
    if not (valid >= 0 and test >= 0 and valid + test < 1):
        raise InputError(f"the shares of valid ({valid}) and test ({test}) must be 0 or more and add up to less than 1")
    order = np.random.default_rng(seed).permutation(len(facts))
    free = order[~_needed_in_train(facts[order])]
    counts = np.array([round(valid * len(facts)), round(test * len(facts))])
    if counts.sum() > len(free):
        counts = counts * len(free) // counts.sum()
    held_valid, held_test = free[: counts[0]], free[counts[0] : counts.sum()]
    rest = np.ones(len(facts), dtype=np.bool_)
    rest[held_valid] = rest[held_test] = False
    return facts[rest], facts[np.sort(held_valid)], facts[np.sort(held_test)]


def _needed_in_train(facts: Facts) -> NDArray[np.bool_]:
    """Mark each fact that is the first to hold one of its entities or its relation. Shape [facts]."""
    needed = np.zeros(len(facts), dtype=np.bool_)
    if len(facts):
        needed[_first_rows(facts[:, 1])] = True
        # Subject and object of a row follow each other, so that a position halves to its row.
        needed[_first_rows(facts[:, [0, 2]].ravel()) // 2] = True
    return needed


def _first_rows(ids: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return the position of the first occurrence of each id that occurs."""
    first = np.full(int(ids.max()) + 1, -1, dtype=np.intp)
    first[ids[::-1]] = np.arange(len(ids))[::-1]  # of repeated indices the last assignment stays
    return first[first >= 0]
