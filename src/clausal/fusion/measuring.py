"""How often given path rules hold: their pairs and their support, counted under object identity."""

from __future__ import annotations

import numpy as np

from clausal.fusion.lists import Ids, Reals
from clausal.logic.mining.compiling import in_threads, kernel, part
from clausal.logic.mining.edges import Edges
from clausal.logic.mining.walks import Walks


def measure_paths(edges: Edges, heads: Ids, bodies: Ids) -> tuple[Reals, Reals]:
    """Return support and pairs of rules, given by heads [rules] and labels of bodies [rules, 3], −1 after the end."""
    walks = Walks.of(edges)
    support, pairs = np.zeros(len(heads)), np.zeros(len(heads))
    arrays = (walks.targets, walks.group_source, walks.group_label, walks.group_start, walks.first_group)

    def work(rule: int) -> None:
        support[rule], pairs[rule] = _count(int(heads[rule]), bodies[rule], walks.entities, *arrays)

    for _ in in_threads(work, range(len(heads))):
        pass
    return support, pairs


@part
def _group(entity, label, group_label, first_group):  # type: ignore[no-untyped-def]
    """Return the group of an entity's edges with a label, or −1."""
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
def _count(  # type: ignore[no-untyped-def]
    head, body, entities, targets, group_source, group_label, group_start, first_group
):
    """Count the pairs of one body, and those that are facts of the head."""
    length = 0
    while length < len(body) and body[length] >= 0:
        length += 1
    reached = np.empty(entities, np.int64)
    middle = np.empty(entities, np.int64)
    last = np.empty(entities, np.int64)
    stamp, end_stamp, fact_stamp = (
        np.zeros(entities, np.int64),
        np.zeros(entities, np.int64),
        np.zeros(entities, np.int64),
    )
    support, pairs, tick = 0, 0, 0
    for first in range(len(group_label)):
        if group_label[first] != body[0]:
            continue
        x = group_source[first]
        tick += 1
        known = _group(x, head, group_label, first_group)
        if known >= 0:
            for at in range(group_start[known], group_start[known + 1]):
                fact_stamp[targets[at]] = tick
        # Entities reached by all labels but the last, with the one before them, or −1 where there are several.
        found = 0
        if length < 3:
            for at in range(group_start[first], group_start[first + 1]):
                reached[found], middle[targets[at]] = targets[at], x
                found += 1
        else:
            for at in range(group_start[first], group_start[first + 1]):
                y = targets[at]
                group = _group(y, body[1], group_label, first_group)
                if group < 0:
                    continue
                for place in range(group_start[group], group_start[group + 1]):
                    w = targets[place]
                    if w == x:
                        continue
                    if stamp[w] == tick:
                        middle[w] = -1
                    else:
                        stamp[w], middle[w] = tick, y
                        reached[found] = w
                        found += 1
        ends = 0
        if length == 1:
            for place in range(found):
                last[place] = reached[place]
            ends = found
        else:
            for place in range(found):
                group = _group(reached[place], body[length - 1], group_label, first_group)
                if group < 0:
                    continue
                for at in range(group_start[group], group_start[group + 1]):
                    z = targets[at]
                    if z != x and z != middle[reached[place]] and end_stamp[z] != tick:
                        end_stamp[z] = tick
                        last[ends] = z
                        ends += 1
        pairs += ends
        for place in range(ends):
            support += fact_stamp[last[place]] == tick
    return support, pairs
