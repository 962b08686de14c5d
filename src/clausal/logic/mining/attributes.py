"""Mining rules with constants: how often two attributes are of one entity."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from clausal.logic.mining.attribute_rules import SOME, AttributeRules, Attributes
from clausal.logic.mining.compiling import in_threads, kernel
from clausal.logic.mining.edges import Edges, Ids, slices_of_cost
from clausal.logic.mining.path_rules import PRIOR
from clausal.observer import Observer

STEPS = 5_000_000_000
"""Pairs of attributes that may be looked at; beyond that, the entities with most attributes are left out."""
_AT_ONCE = 50_000_000


def mine_attributes(
    edges: Edges,
    *,
    min_support: int = 2,
    min_confidence: float = 0.01,
    steps: int = STEPS,
    seconds: float | None = None,
    observer: Observer | None = None,
) -> AttributeRules:
    """Find the rules with constants that have enough support and smoothed confidence.

    Two attributes of one entity are looked at for every entity, which takes the square of its attributes. Where that is
    more than ``steps`` in all, the entities that have most are not counted, neither for nor against a rule.
    """
    until = None if seconds is None else time.monotonic() + seconds
    attributes = Attributes.of(edges)
    starts, of_entity = attributes.of_entity
    degree = np.diff(starts)
    counted = _counted(degree, steps)
    holders_kept = counted[attributes.holders]
    first_holder = np.append(0, np.cumsum(holders_kept))[attributes.first_holder]
    holders = attributes.holders[holders_kept]
    entities_with = np.diff(first_holder)
    cost = np.diff(np.append(0, np.cumsum(degree[holders]))[first_holder])
    parts = slices_of_cost(cost, _AT_ONCE)
    bound = attributes.entity != SOME

    def work(part: slice) -> tuple[Ids, Ids, Ids]:
        found: tuple[Ids, Ids, Ids] = _count(
            *(
                part.start,
                part.stop,
                first_holder,
                holders,
                starts,
                of_entity,
                bound,
                min_support,
                min_confidence,
                PRIOR,
            )
        )
        return found

    found: dict[int, tuple[Ids, Ids, Ids]] = {}
    observer = observer or Observer()
    for part, rules in in_threads(work, _in_time(parts, until)):
        found[part.start] = rules
        observer.advanced("constants", len(found), len(parts), "parts")
    kept = np.zeros(len(attributes), np.int64)
    for start, (of_body, _, _) in found.items():
        kept[start : start + len(of_body)] = of_body
    heads, support = (
        np.concatenate([np.empty(0, np.int64), *(found[start][column] for start in sorted(found))]) for column in (1, 2)
    )
    return AttributeRules(
        *(edges.relations, attributes.label, attributes.entity, entities_with),
        *(np.append(0, np.cumsum(kept)), heads, support, len(found) == len(parts)),
    )


def _counted(degree: Ids, steps: int) -> Any:
    """Say of each entity whether it is counted: the ones with most attributes are not, where it would take too long."""
    order = np.argsort(degree, kind="stable")
    affordable = np.cumsum(degree[order].astype(np.float64) ** 2) <= steps
    counted = np.zeros(len(degree), np.bool_)
    counted[order[affordable]] = True
    return counted


def _in_time(parts: list[slice], until: float | None) -> Iterator[slice]:
    for part in parts:
        if until is not None and time.monotonic() >= until:
            return
        yield part


@kernel
def _count(
    first: int,
    last: int,
    first_holder: Any,
    holders: Any,
    starts: Any,
    of_entity: Any,
    bound: Any,
    min_support: int,
    min_confidence: float,
    prior: float,
) -> Any:
    """Count the rules of the bodies first … last - 1: how many each has, their heads and their support."""
    together = np.zeros(len(bound), np.int32)
    touched = np.empty(len(bound), np.int64)
    of_body = np.zeros(last - first, np.int64)
    heads, support = np.empty(1024, np.int64), np.empty(1024, np.int64)
    size = 0
    for body in range(first, last):
        with_body = first_holder[body + 1] - first_holder[body]
        if with_body < min_support:
            continue
        seen = 0
        for at in range(first_holder[body], first_holder[body + 1]):
            x = holders[at]
            for place in range(starts[x], starts[x + 1]):
                head = of_entity[place]
                if together[head] == 0:
                    touched[seen] = head
                    seen += 1
                together[head] += 1
        least = max(np.float64(min_support), min_confidence * (with_body + prior))
        before = size
        for place in range(seen):
            head = touched[place]
            if together[head] >= least and bound[head] and head != body:
                if size == len(heads):
                    heads = np.concatenate((heads, np.empty(size, np.int64)))
                    support = np.concatenate((support, np.empty(size, np.int64)))
                heads[size], support[size] = head, together[head]
                size += 1
            together[head] = 0
        order = np.argsort(heads[before:size])
        heads[before:size] = heads[before:size][order]
        support[before:size] = support[before:size][order]
        of_body[body - first] = size - before
    return of_body, heads[:size].copy(), support[:size].copy()
