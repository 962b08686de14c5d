"""Ground rules: every way to put entities in place of a rule's variables so that chosen atoms are facts.

Facts are sorted by relation, subject and object, so that the atoms are joined by arrays; the prover and KALE use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.graph import Facts
from clausal.logic.rules import Binding, Rule
from clausal.logic.shape import AtomShape, Slot

Ids = NDArray[np.int64]
"""Ids of entities, or rows of facts."""


class SortedFacts(NamedTuple):
    """Facts of one relation in the order of ``keys``, first · entities + second, and their ``rows`` among all facts."""

    keys: Ids
    rows: Ids
    subject_first: bool


class RelationIndex:
    """The facts of one relation, each once: the first of its rows."""

    def __init__(self, subjects: Ids, objects: Ids, rows: Ids, entities: int) -> None:
        self._subjects, self._objects, self._rows = subjects, objects, rows
        self._entities = entities

    @cached_property
    def by_subject(self) -> SortedFacts:
        """The facts by subject, then object."""
        keys, first = np.unique(self._subjects * self._entities + self._objects, return_index=True)
        return SortedFacts(keys, self._rows[first], True)

    @cached_property
    def by_object(self) -> SortedFacts:
        """The facts by object, then subject."""
        keys, first = np.unique(self._objects * self._entities + self._subjects, return_index=True)
        return SortedFacts(keys, self._rows[first], False)

    def ranges(self, subjects: Ids | None, objects: Ids | None) -> tuple[SortedFacts, Ids, Ids]:
        """Return for each subject, object or pair where its facts start and end; None stands for any entity."""
        if subjects is not None:
            facts, low = self.by_subject, subjects * self._entities
            low, width = (low, self._entities) if objects is None else (low + objects, 1)
        elif objects is not None:
            facts, low, width = self.by_object, objects * self._entities, self._entities
        else:
            facts = self.by_subject
            return facts, np.zeros(1, dtype=np.int64), np.full(1, len(facts.keys))
        return facts, np.searchsorted(facts.keys, low), np.searchsorted(facts.keys, low + width)


class FactIndex:
    """Facts, ready to ground rules in them; a relation is sorted when it is first asked for."""

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
        """Return the first row of a fact, or None where it is not among the facts."""
        facts, starts, ends = self.relation(relation).ranges(np.array([subject]), np.array([object]))
        return int(facts.rows[starts[0]]) if starts[0] < ends[0] else None


@dataclass(frozen=True, eq=False)
class Groundings:
    """Ways to ground atoms of a rule, side by side in arrays of shape [count].

    ``entities`` has the entity of each slot that is bound, ``rows`` the row of facts that each atom is, by position.
    ``cut`` says that there are more ways than were asked for.
    """

    count: int
    entities: dict[Slot, Ids]
    rows: dict[int, Ids]
    cut: bool = False


def ground(
    index: FactIndex,
    rule: Rule,
    positions: Iterable[int] | None = None,
    binding: Binding | None = None,
    most: int | None = None,
) -> Groundings:
    """Return every way to make the atoms at these positions facts: those of the whole body unless others are given.

    The head's position is the last. ``binding`` says what some slots stand for, constants included; by default only
    the constants are bound. Beyond ``most`` ways at any time, the rest is ``cut`` off.
    """
    asked = tuple(range(len(rule.shape.body)) if positions is None else positions)
    waiting = list(asked)
    binding = rule.constant_binding if binding is None else binding
    found = Groundings(1, {slot: np.array([entity]) for slot, entity in binding.items()}, {})
    while waiting and found.count:
        step = min((_look_up(index, rule, position, found) for position in waiting), key=lambda step: step.total)
        waiting.remove(step.position)
        found = _join(found, step, rule.shape.atoms[step.position], index.entities, most)
    return found if found.count else _no_groundings(rule, asked, binding, found.cut)


def _no_groundings(rule: Rule, positions: Sequence[int], binding: Binding, cut: bool) -> Groundings:
    """Return no way at all, with every slot that a way would have."""
    slots = {slot for position in positions for slot in rule.shape.atoms[position].slots} | binding.keys()
    nothing = np.empty(0, dtype=np.int64)
    return Groundings(0, dict.fromkeys(slots, nothing), dict.fromkeys(positions, nothing), cut)


class _Step(NamedTuple):
    """An atom that could be joined next: for each grounding so far, where its facts start and end."""

    position: int
    facts: SortedFacts
    starts: Ids
    ends: Ids
    total: int


def _look_up(index: FactIndex, rule: Rule, position: int, found: Groundings) -> _Step:
    subjects, objects = (found.entities.get(slot) for slot in rule.shape.atoms[position].slots)
    facts, starts, ends = index.relation(rule.relations[position]).ranges(subjects, objects)
    if len(starts) < found.count:  # no variable is bound yet
        starts, ends = np.repeat(starts, found.count), np.repeat(ends, found.count)
    return _Step(position, facts, starts, ends, int((ends - starts).sum()))


def _join(found: Groundings, step: _Step, atom: AtomShape, entities: int, most: int | None) -> Groundings:
    lengths = step.ends - step.starts
    before = np.cumsum(lengths) - lengths
    cut = most is not None and step.total > most
    if cut:
        lengths = np.clip(most - before, 0, lengths)
    chosen = np.repeat(np.arange(found.count), lengths)  # which grounding so far each new one extends
    places = np.arange(len(chosen)) + np.repeat(step.starts - before, lengths)
    first, second = np.divmod(step.facts.keys[places], entities)
    subjects, objects = (first, second) if step.facts.subject_first else (second, first)
    rows = step.facts.rows[places]
    if atom.subject == atom.object and atom.subject not in found.entities:
        same = subjects == objects
        chosen, subjects, objects, rows = chosen[same], subjects[same], objects[same], rows[same]
    bound = {slot: values[chosen] for slot, values in found.entities.items()}
    bound |= {atom.subject: subjects, atom.object: objects}
    joined = {position: other[chosen] for position, other in found.rows.items()}
    return Groundings(len(chosen), bound, joined | {step.position: rows}, found.cut or cut)
