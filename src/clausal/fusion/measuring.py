"""How often given path rules hold: their pairs and their support, counted under object identity."""

from __future__ import annotations

import numpy as np

from clausal.fusion.lists import Ids, Reals
from clausal.logic.mining.compiling import in_threads, kernel
from clausal.logic.mining.edges import Edges
from clausal.logic.mining.known_pairs import group_at
from clausal.logic.mining.walks import Walks


def measure_paths(edges: Edges, heads: Ids, bodies: Ids) -> tuple[Reals, Reals, Reals]:
    """Return what ``PathRules`` counts of rules: support and pairs [rules], and known pairs [rules, 2].

    The rules are given by heads [rules] and labels of bodies [rules, 3], −1 after the end.
    """
    walks = Walks.of(edges)
    support, pairs, known = np.zeros(len(heads)), np.zeros(len(heads)), np.zeros((len(heads), 2))
    arrays = (walks.targets, walks.group_source, walks.group_label, walks.group_start, walks.first_group)

    def work(rule: int) -> None:
        counts = _count(int(heads[rule]), walks.relations, bodies[rule], walks.entities, *arrays)
        support[rule], pairs[rule], known[rule, 0], known[rule, 1] = counts

    for _ in in_threads(work, range(len(heads))):
        pass
    return support, pairs, known


@kernel
def _count(  # type: ignore[no-untyped-def]
    head, relations, body, entities, targets, group_source, group_label, group_start, first_group
):
    """Count the pairs of one body, those that are facts of the head, and those at known subjects and objects of it."""
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
    support, pairs, tick, at_subject, at_object = 0, 0, 0, 0, 0
    for first in range(len(group_label)):
        if group_label[first] != body[0]:
            continue
        x = group_source[first]
        tick += 1
        known = group_at(group_label, first_group, x, head)
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
                group = group_at(group_label, first_group, y, body[1])
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
                group = group_at(group_label, first_group, reached[place], body[length - 1])
                if group < 0:
                    continue
                for at in range(group_start[group], group_start[group + 1]):
                    z = targets[at]
                    if z != x and z != middle[reached[place]] and end_stamp[z] != tick:
                        end_stamp[z] = tick
                        last[ends] = z
                        ends += 1
        pairs += ends
        at_subject += ends if known >= 0 else 0
        for place in range(ends):
            support += fact_stamp[last[place]] == tick
            at_object += group_at(group_label, first_group, last[place], head + relations) >= 0
    return support, pairs, at_subject, at_object
