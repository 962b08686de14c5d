"""Clauses dealt into parts at random, so that one part stands for all of them: each counts as often as there are parts.

Every clause is in one part, and in each with the same probability: the sum over a part, times the number of parts, has
the sum over all clauses for its mean. Parts have as many clauses as each other, of every shape, or one more.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import torch

from clausal.adversary.clauses import ClauseGroup


def deal(groups: Sequence[ClauseGroup], parts: int, first: int, generator: torch.Generator) -> list[list[ClauseGroup]]:
    """Deal clauses into ``parts`` parts and return the first ones, each as groups; one part is the groups themselves.

    The readings of a clause of a reciprocal model stay together. ``generator`` is one of the CPU.
    """
    if parts == 1:
        return [list(groups)]
    dealt: list[list[ClauseGroup]] = [[] for _ in range(first)]
    next_part = int(torch.randint(parts, (), generator=generator))
    for _, together in groupby(groups, key=lambda group: id(group.clauses)):
        readings = list(together)
        order = torch.randperm(len(readings[0]), generator=generator)
        for part in range(first):
            places = order[(part - next_part) % parts :: parts]
            if len(places):
                clauses = tuple(readings[0].clauses[place] for place in places.tolist())
                dealt[part] += [reading.some(places, clauses) for reading in readings]
        next_part = (next_part + len(order)) % parts
    return dealt


def count_clauses(groups: Sequence[ClauseGroup]) -> int:
    """Return how many clauses groups have, the readings of one counted once."""
    return sum(len(group) for group in {id(group.clauses): group for group in groups}.values())
