"""Grounded bodies: every way to make chosen atoms of a clause's body facts of the closure, by joins over arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clausal.logic.proofs.index import FactIndex, Ids, Sorted
from clausal.logic.proofs.rules import Bound, ProofRule
from clausal.logic.shape import AtomShape, Slot


@dataclass(frozen=True)
class Groundings:
    """Ways to ground atoms side by side: the entity of each slot, the closure's row of each atom. Shapes [count]."""

    count: int
    entities: dict[Slot, Ids]
    rows: dict[int, Ids]
    cut: bool = False


class _Step(NamedTuple):
    """An atom that could be joined next: for each grounding so far, where its facts start and end."""

    position: int
    order: Sorted
    starts: Ids
    ends: Ids
    total: int


def ground(index: FactIndex, rule: ProofRule, positions: Iterable[int], bound: Bound, most: int) -> Groundings:
    """Ground the body's atoms at these positions; beyond ``most`` ways at any time, the rest is ``cut`` off."""
    found = Groundings(1, {slot: np.array([entity]) for slot, entity in bound.items()}, {})
    remaining = list(positions)
    while remaining and found.count:
        step = min((_look_up(index, rule, position, found) for position in remaining), key=lambda step: step.total)
        remaining.remove(step.position)
        found = _join(found, step, rule.body[step.position], index.entities, most)
    if not found.count:
        return Groundings(0, found.entities, dict.fromkeys(positions, np.empty(0, dtype=np.int64)), found.cut)
    return found


def _look_up(index: FactIndex, rule: ProofRule, position: int, found: Groundings) -> _Step:
    atom = rule.body[position]
    subjects, objects = (found.entities.get(slot) for slot in atom.slots)
    order, starts, ends = index.relation(rule.relation(position)).ranges(subjects, objects)
    if len(starts) < found.count:  # no variable is bound yet
        starts, ends = np.repeat(starts, found.count), np.repeat(ends, found.count)
    return _Step(position, order, starts, ends, int((ends - starts).sum()))


def _join(found: Groundings, step: _Step, atom: AtomShape, entities: int, most: int) -> Groundings:
    lengths = step.ends - step.starts
    before = np.cumsum(lengths) - lengths
    cut = step.total > most
    if cut:
        lengths = np.clip(most - before, 0, lengths)
    chosen = np.repeat(np.arange(found.count), lengths)  # which grounding so far each new one extends
    places = np.arange(len(chosen)) + np.repeat(step.starts - before, lengths)
    first, second = np.divmod(step.order.keys[places], entities)
    subjects, objects = (first, second) if step.order.subject_first else (second, first)
    rows = step.order.rows[places]
    if atom.subject == atom.object and atom.subject not in found.entities:
        same = subjects == objects
        chosen, subjects, objects, rows = chosen[same], subjects[same], objects[same], rows[same]
    bound = {slot: values[chosen] for slot, values in found.entities.items()}
    bound |= {atom.subject: subjects, atom.object: objects}
    joined = {position: other[chosen] for position, other in found.rows.items()}
    return Groundings(len(chosen), bound, joined | {step.position: rows}, found.cut or cut)
