"""The filter of a filtered ranking: every known fact, found by its query without a Python loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clausal.graph.facts import found_in
from clausal.graph.graph import Facts

Ids = NDArray[np.int64]


def object_queries(facts: Facts, num_relations: int) -> Ids:
    """Return one integer per fact for its query (s, r, ?)."""
    return facts[:, 0].astype(np.int64) * num_relations + facts[:, 1]


def subject_queries(facts: Facts, num_entities: int) -> Ids:
    """Return one integer per fact for its query (?, r, o)."""
    return facts[:, 1].astype(np.int64) * num_entities + facts[:, 2]


@dataclass(frozen=True, eq=False)
class KnownAnswers:
    """The known answers of each query, as sorted integer keys.

    A key is the position of the query in ``queries`` times the number of entities, plus the answer. Positions
    rather than queries keep keys within 64 bits: facts × entities bounds them, not entities² × relations.
    """

    queries: Ids
    keys: Ids
    num_entities: int

    @classmethod
    def build(cls, queries: Ids, answers: NDArray[np.integer], num_entities: int) -> KnownAnswers:
        """Index the answers, one per query; repeated pairs count once."""
        unique, positions = np.unique(queries, return_inverse=True)
        return cls(unique, np.unique(positions * num_entities + answers), num_entities)

    def find(self, queries: Ids) -> tuple[NDArray[np.int32], Ids]:
        """Return the answers of all ``queries``, query after query, and how many each one has."""
        bases, found = self._bases(queries)
        first = np.searchsorted(self.keys, bases)
        counts = np.where(found, np.searchsorted(self.keys, bases + self.num_entities) - first, 0)
        before = np.cumsum(counts) - counts
        places = np.repeat(first - before, counts) + np.arange(counts.sum())
        return (self.keys[places] % self.num_entities).astype(np.int32), counts

    def contain(self, queries: Ids, answers: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Say for each query whether this answer to it is known."""
        bases, found = self._bases(queries)
        keys = bases + answers
        places = np.searchsorted(self.keys, keys)
        places[places == len(self.keys)] = 0
        return found & (self.keys[places] == keys) if len(self.keys) else found

    def _bases(self, queries: Ids) -> tuple[Ids, NDArray[np.bool_]]:
        """Return the first key each query could have, and whether the query is known at all."""
        positions = np.searchsorted(self.queries, queries)
        inside = positions < len(self.queries)
        found = inside.copy()
        found[inside] = self.queries[positions[inside]] == queries[inside]
        return positions * self.num_entities, found


class Known:
    """The known facts, indexed both ways: objects of (s, r, ?) and subjects of (?, r, o).

    Given the facts whose queries will be ``asked``, it has the answers to those alone: sorting all facts of a large
    graph takes longer than ranking a few of them.
    """

    def __init__(self, facts: Facts, num_entities: int, num_relations: int, asked: Facts | None = None) -> None:
        def build(queries_of: Callable[[Facts, int], Ids], size: int, answer: int) -> KnownAnswers:
            queries, answers = queries_of(facts, size), facts[:, answer]
            if asked is not None:
                kept = found_in(queries, np.unique(queries_of(asked, size)))
                queries, answers = queries[kept], answers[kept]
            return KnownAnswers.build(queries, answers, num_entities)

        self.objects = build(object_queries, num_relations, 2)
        self.subjects = build(subject_queries, num_entities, 0)
