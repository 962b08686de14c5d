"""Pruning: a rule is kept if it is no accident and predicts facts that better rules do not predict already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from clausal.logic.mining.compiling import kernel
from clausal.logic.mining.edges import Ids
from clausal.logic.mining.known_pairs import group_at
from clausal.logic.mining.walks import Walks

NEW = 0.1
"""The share of the facts that a rule predicts which no better rule predicts, at least."""


def not_covered(order: Sequence[int], heads: Ids, predicted: Iterable[Ids], least: int) -> list[int]:
    """Choose rules that predict enough new facts: a tenth of what they predict, and at least ``least``.

    ``order`` names the rules, best first, and ``predicted`` yields in that order the facts, as keys, of each.
    """
    covered: dict[int, Ids] = {}
    kept = []
    for rule, facts in zip(order, predicted, strict=True):
        head = int(heads[rule])
        before = covered.get(head, np.empty(0, np.int64))
        new = np.setdiff1d(facts, before, assume_unique=True)
        if len(new) >= max(least, NEW * len(facts)):
            covered[head] = np.concatenate([before, new])
            kept.append(rule)
    return kept


def facts_of_path(walks: Walks, head: int, body: Ids) -> Ids:
    """Return the facts of a relation that a path predicts, as keys subject · entities + object."""
    arrays = (walks.targets, walks.group_source, walks.group_label, walks.group_start, walks.first_group)
    starts = walks.groups_of_label(int(body[0]))
    facts: Ids = _facts_of_path(*arrays, starts, head, np.ascontiguousarray(body))
    return facts


@kernel
def _facts_of_path(
    targets: Any,
    group_source: Any,
    group_label: Any,
    group_start: Any,
    first_group: Any,
    starts: Any,
    head: int,
    body: Any,
) -> Any:
    entities = len(first_group) - 1
    facts = np.empty(16, np.int64)
    size = 0
    stamp, only = np.zeros(entities, np.int64), np.empty(entities, np.int64)
    reached, wanted = np.empty(entities, np.int64), np.zeros(entities, np.int64)
    tick = 0
    for group in starts:
        x = group_source[group]
        own = group_at(group_label, first_group, x, head)
        if own < 0:
            continue
        for at in range(group_start[own], group_start[own + 1]):
            wanted[targets[at]] = x + 1
        found, tick = 0, tick + 1
        for at in range(group_start[group], group_start[group + 1]):
            reached[found] = targets[at]
            only[targets[at]] = x
            found += 1
        for place in range(1, len(body)):
            if body[place] < 0:
                break
            tick += 1
            before = reached[:found].copy()
            before_only = only[before]
            found = 0
            for at in range(len(before)):
                y = before[at]
                there = group_at(group_label, first_group, y, body[place])
                if there >= 0:
                    for edge in range(group_start[there], group_start[there + 1]):
                        z = targets[edge]
                        if z == x or (place == 2 and z == before_only[at]):
                            continue
                        if stamp[z] == tick:
                            only[z] = -1
                        else:
                            stamp[z] = tick
                            only[z] = y
                            reached[found] = z
                            found += 1
        for at in range(found):
            z = reached[at]
            if wanted[z] == x + 1:
                if size == len(facts):
                    facts = np.concatenate((facts, np.empty(size, np.int64)))
                facts[size] = x * entities + z
                size += 1
    return np.sort(facts[:size])
