"""Rules whose body is a chain from one end of the head to the other, counted by walks on the facts.

A join lists every path; a walk from one entity marks what it reaches, so that no more than its facts are looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.graph import Facts
from clausal.logic.mining.compiling import kernel
from clausal.logic.mining.edges import distinct

_MOST_STARTS = 20_000_000  # numbers kept to find the facts of an entity: 160 MB


class Step(NamedTuple):
    """One atom of a chain: its relation, and whether it is walked from object to subject."""

    relation: int
    backwards: bool


def can_walk(entities: int, relations: int) -> bool:
    """Tell whether a graph of this size can be walked: each of its facts needs a number of its own."""
    return 2 * relations * entities * entities < 2**63


class Walks:
    """The facts of some relations in both directions, ready to walk along chains of them."""

    def __init__(self, facts: Facts, relations: Collection[int], entities: int, all_relations: int) -> None:
        used = np.zeros(all_relations, np.bool_)
        used[list(relations)] = True
        subject, relation, object = facts[used[facts[:, 1]]].T.astype(np.int64)
        label = np.concatenate([relation, relation + all_relations])
        source, target = np.concatenate([subject, object]), np.concatenate([object, subject])
        keys, targets = np.divmod(distinct((label * entities + source) * entities + target), entities)
        self._labels, self._sources = np.divmod(keys, entities)
        self._targets = targets.astype(np.int32)
        self._entities, self._relations = entities, all_relations
        self._starts = lru_cache(maxsize=max(8, _MOST_STARTS // max(entities, 1)))(self._find_starts)

    def count(
        self, way: Sequence[Step], heads: Sequence[Step], at_start: Sequence[bool]
    ) -> tuple[int, list[int], list[int]]:
        """Return how many pairs a chain joins, and for each head how many are facts and of how many an end is known.

        A head leads from the start of the chain to its end; ``at_start`` says which of its ends is to be known.
        """
        body = np.stack([self._starts(self._label(step)) for step in way])
        inverse = [Step(head.relation, not head.backwards) for head in heads]
        here, there = (
            np.stack([self._starts(self._label(head)) for head in some])
            if some
            else np.empty((0, self._entities + 1), np.int64)
            for some in (heads, inverse)
        )
        first, last = np.searchsorted(self._labels, [self._label(way[0]), self._label(way[0]) + 1])
        sources = distinct(self._sources[first:last])
        pairs, support, known = _count_chain(
            self._targets, body, here, there, np.array(at_start, dtype=np.bool_), sources
        )
        return int(pairs), support.tolist(), known.tolist()

    def _label(self, step: Step) -> int:
        return step.relation + step.backwards * self._relations

    def _find_starts(self, label: int) -> NDArray[np.int64]:
        """Return where the facts of a label start for each entity, and where the last one's end."""
        first, last = np.searchsorted(self._labels, [label, label + 1])
        counts = np.bincount(self._sources[first:last], minlength=self._entities)
        return np.concatenate([[first], first + np.cumsum(counts)]).astype(np.int64)


@kernel
def _count_chain(targets: Any, body: Any, heads: Any, inverse_heads: Any, at_start: Any, sources: Any) -> Any:
    """Walk from each source; ``stamp`` says from which one an entity was last reached by each step."""
    steps, entities = body.shape[0], body.shape[1] - 1
    stamp = np.zeros((steps, entities), np.int64)
    layers = np.empty((2, entities), np.int64)
    pairs = 0
    support, known = np.zeros(len(heads), np.int64), np.zeros(len(heads), np.int64)
    for number in range(len(sources)):
        start, tick = sources[number], number + 1
        layers[0, 0] = start
        here, count = 0, 1
        for step in range(steps):
            found = 0
            for place in range(count):
                entity = layers[here, place]
                for at in range(body[step, entity], body[step, entity + 1]):
                    other = targets[at]
                    if stamp[step, other] != tick:
                        stamp[step, other] = tick
                        layers[1 - here, found] = other
                        found += 1
            here, count = 1 - here, found
        pairs += count
        if count == 0:
            continue
        for head in range(len(heads)):
            first, last = heads[head, start], heads[head, start + 1]
            for at in range(first, last):
                if stamp[steps - 1, targets[at]] == tick:
                    support[head] += 1
            if at_start[head]:
                if last > first:
                    known[head] += count
            else:
                for place in range(count):
                    end = layers[here, place]
                    if inverse_heads[head, end + 1] > inverse_heads[head, end]:
                        known[head] += 1
    return pairs, support, known
