"""The facts of a closure by relation, sorted by subject and by object, so that bodies of clauses are joined at once."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.graph import Facts

Ids = NDArray[np.int64]
"""Ids of entities, or rows of a closure."""


class Sorted(NamedTuple):
    """Facts of one relation in the order of ``keys``, first · entities + second; ``rows`` are theirs in the closure."""

    keys: Ids
    rows: Ids
    subject_first: bool


class RelationIndex:
    """The facts of one relation, each once: the first of its rows."""

    def __init__(self, subjects: Ids, objects: Ids, rows: Ids, entities: int) -> None:
        self._subjects, self._objects, self._rows = subjects, objects, rows
        self._entities = entities

    @cached_property
    def by_subject(self) -> Sorted:
        """The facts by subject, then object."""
        keys, first = np.unique(self._subjects * self._entities + self._objects, return_index=True)
        return Sorted(keys, self._rows[first], True)

    @cached_property
    def by_object(self) -> Sorted:
        """The facts by object, then subject."""
        keys, first = np.unique(self._objects * self._entities + self._subjects, return_index=True)
        return Sorted(keys, self._rows[first], False)

    def ranges(self, subjects: Ids | None, objects: Ids | None) -> tuple[Sorted, Ids, Ids]:
        """Return for each subject, object or pair where its facts start and end; None stands for any entity."""
        if subjects is not None:
            order, low = self.by_subject, subjects * self._entities
            low, width = (low, self._entities) if objects is None else (low + objects, 1)
        elif objects is not None:
            order, low, width = self.by_object, objects * self._entities, self._entities
        else:
            order = self.by_subject
            return order, np.zeros(1, dtype=np.int64), np.full(1, len(order.keys))
        return order, np.searchsorted(order.keys, low), np.searchsorted(order.keys, low + width)


class FactIndex:
    """All facts of a closure; a relation is sorted when it is first asked for."""

    def __init__(self, facts: Facts, entities: int, relations: int) -> None:
        self.facts = facts
        self.entities = entities
        column = facts[:, 1]
        if relations < 2**16:
            column = column.astype(np.uint16)  # which numpy sorts in linear time
        self._order = np.argsort(column, kind="stable")
        self._starts = np.searchsorted(column, np.arange(relations + 1), sorter=self._order)
        self._relations: dict[int, RelationIndex] = {}

    def relation(self, relation: int) -> RelationIndex:
        """Return the facts of a relation."""
        if relation not in self._relations:
            rows = self._order[self._starts[relation] : self._starts[relation + 1]]
            subjects, objects = (self.facts[rows, column].astype(np.int64) for column in (0, 2))
            self._relations[relation] = RelationIndex(subjects, objects, rows, self.entities)
        return self._relations[relation]

    def row(self, subject: int, relation: int, object: int) -> int | None:
        """Return the first row of a fact, or None where the closure does not have it."""
        order, starts, ends = self.relation(relation).ranges(np.array([subject]), np.array([object]))
        return int(order.rows[starts[0]]) if starts[0] < ends[0] else None
