"""A second look at bodies: how many of their pairs begin at an entity of which some fact of the head is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from clausal.logic.mining.compiling import kernel, part
from clausal.logic.mining.edges import Ids
from clausal.logic.mining.walks import Walks


def known_pairs(walks: Walks, groups: Ids, heads: Ids, bodies: Ids) -> Any:
    """Count the pairs of rules whose subject, and whose object, has some fact of the head: two columns.

    Paths begin at ``groups``, which are sorted by label; those of each end are counted from that end.
    """
    every = np.concatenate([bodies, backwards(bodies, walks.relations)])
    labels = np.concatenate([heads, heads + walks.relations])
    order = np.lexsort((labels, *every.T[::-1]))
    starts = np.searchsorted(walks.group_label[groups], np.arange(walks.labels + 1))
    arrays = (walks.targets, walks.group_source, walks.group_label, walks.group_start, walks.first_group)
    found = np.empty(len(every))
    found[order] = _count_known(*arrays, groups, starts, labels[order], np.ascontiguousarray(every[order]))
    return found.reshape(2, len(bodies)).T


def backwards(bodies: Ids, relations: int) -> Ids:
    """Return the same bodies from their ends to their beginnings."""
    turned = np.where(bodies >= 0, (bodies + relations) % max(2 * relations, 1), -1)[:, ::-1]
    return np.take_along_axis(turned, np.argsort(turned < 0, axis=1, kind="stable"), axis=1)


@part
def group_at(group_label: Any, first_group: Any, entity: int, label: int) -> Any:
    """Return the group of an entity's edges with a label, or -1."""
    low, high = first_group[entity], first_group[entity + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if group_label[middle] < label:
            low = middle + 1
        else:
            high = middle
    return low if low < end and group_label[low] == label else -1


@kernel
def _count_known(
    targets: Any,
    group_source: Any,
    group_label: Any,
    group_start: Any,
    first_group: Any,
    groups: Any,
    starts: Any,
    heads: Any,
    bodies: Any,
) -> Any:
    """Count for each rule, sorted by bodies, the pairs (x, z) of its body where x has an edge with the head's label."""
    entities, labels = len(first_group) - 1, len(starts) - 1
    known = np.zeros(len(heads))
    stamp, only = np.zeros(entities, np.int64), np.empty(entities, np.int64)
    reached = np.empty(entities, np.int64)
    has = np.zeros(labels, np.int64)
    tick, turn = 0, 0
    first = 0
    while first < len(heads):
        b1 = bodies[first, 0]
        last = first
        while last < len(heads) and bodies[last, 0] == b1:
            last += 1
        for place in range(starts[b1], starts[b1 + 1]):
            group = groups[place]
            x = group_source[group]
            turn += 1
            for own in range(first_group[x], first_group[x + 1]):
                has[group_label[own]] = turn
            b2, found, b3, pairs = -2, 0, -2, -1
            for row in range(first, last):
                if bodies[row, 1] != b2 or bodies[row, 2] != b3:
                    pairs = -1
                    if bodies[row, 1] != b2:
                        found = -1
                    b2, b3 = bodies[row, 1], bodies[row, 2]
                if has[heads[row]] != turn:
                    continue
                if pairs < 0:
                    if b2 < 0:
                        pairs = group_start[group + 1] - group_start[group]
                    else:
                        if found < 0:
                            tick += 1
                            found = 0
                            for at in range(group_start[group], group_start[group + 1]):
                                y = targets[at]
                                second = group_at(group_label, first_group, y, b2)
                                if second >= 0:
                                    for there in range(group_start[second], group_start[second + 1]):
                                        w = targets[there]
                                        if w == x:
                                            continue
                                        if stamp[w] == tick:
                                            only[w] = -1
                                        else:
                                            stamp[w] = tick
                                            only[w] = y
                                            reached[found] = w
                                            found += 1
                        pairs = found
                        if b3 >= 0:
                            tick += 1
                            pairs = 0
                            for at in range(found):
                                w = reached[at]
                                third = group_at(group_label, first_group, w, b3)
                                if third >= 0:
                                    for there in range(group_start[third], group_start[third + 1]):
                                        z = targets[there]
                                        if z not in (x, only[w]) and stamp[z] != tick:
                                            stamp[z] = tick
                                            pairs += 1
                known[row] += pairs
        first = last
    return known
