"""The facts that a graph has, indexed once, so that no question looks at all of them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clausal.graph.facts import Facts, fact_keys, found_in
from clausal.graph.graph import Graph

Ids = NDArray[np.int64]


class SortedFacts:
    """A set of facts, which is asked whether it has some, and for the answers of (s, r, ?) and of (?, r, o)."""

    def __init__(self, facts: Facts, entities: int, relations: int) -> None:
        self._facts, self._entities, self._relations = facts, entities, relations

    @cached_property
    def _by_subject(self) -> Ids:
        """The keys of the facts, those of a subject and a relation side by side."""
        return np.sort(fact_keys(self._facts, self._entities, self._relations))

    @cached_property
    def _by_object(self) -> Ids:
        """The keys of the facts, those of a relation and an object side by side."""
        subject, relation, object = self._facts.astype(np.int64).T
        return np.sort((object * self._relations + relation) * self._entities + subject)

    def has(self, facts: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Say for each fact whether it is in the set. Shape [facts]."""
        return found_in(fact_keys(facts, self._entities, self._relations), self._by_subject)

    def objects(self, subjects: Ids, relations: Ids) -> tuple[Ids, Ids]:
        """Return the pairs (place of the question, object) of questions (s, r, ?) [questions]."""
        return self._answers(self._by_subject, subjects, relations)

    def subjects(self, relations: Ids, objects: Ids) -> tuple[Ids, Ids]:
        """Return the pairs (place of the question, subject) of questions (?, r, o) [questions]."""
        return self._answers(self._by_object, objects, relations)

    def around(self, entity: int) -> Ids:
        """Return the facts that an entity is in, those of which it is the subject first. Shape [facts, 3]."""
        width = self._relations * self._entities

        def rest(keys: Ids) -> tuple[Ids, Ids]:
            first, last = np.searchsorted(keys, [entity * width, (entity + 1) * width])
            relations, others = np.divmod(keys[first:last] - entity * width, self._entities)
            return relations, others

        relations, objects = rest(self._by_subject)
        of_subject = np.stack([np.full(len(objects), entity), relations, objects], 1)
        relations, subjects = rest(self._by_object)
        of_object = np.stack([subjects, relations, np.full(len(subjects), entity)], 1)
        return np.concatenate([of_subject, of_object[subjects != entity]])

    def _answers(self, keys: Ids, entities: Ids, relations: Ids) -> tuple[Ids, Ids]:
        lowest = (entities * self._relations + relations) * self._entities
        first, last = np.searchsorted(keys, lowest), np.searchsorted(keys, lowest + self._entities)
        counts = last - first
        places = np.repeat(np.arange(len(entities)), counts)
        before = np.cumsum(counts) - counts
        answers = keys[np.repeat(first - before, counts) + np.arange(len(places))] % self._entities
        return places, answers


class KnownFacts:
    """The facts of all splits of a graph."""

    def __init__(self, graph: Graph) -> None:
        sizes = len(graph.entities), len(graph.relations)
        self.names = list(graph.splits)
        self.splits = [SortedFacts(facts, *sizes) for facts in graph.splits.values()]

    @property
    def train(self) -> SortedFacts:
        """The facts of train."""
        return self.splits[self.names.index("train")]

    def split_numbers(self, facts: NDArray[np.integer]) -> NDArray[np.int8]:
        """Return for each fact the number of the first split that has it, or −1."""
        found = np.full(len(facts), -1, np.int8)
        for number in reversed(range(len(self.splits))):
            found[self.splits[number].has(facts)] = number
        return found

    def split_name(self, number: int) -> str | None:
        """Return the name of a split by its number; None for −1."""
        return None if number < 0 else self.names[number]
