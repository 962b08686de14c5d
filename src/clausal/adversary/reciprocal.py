"""Clauses on reciprocal models: each one is read twice, once for each direction in which its head is asked for.

A reciprocal model answers (x, h, ?) by h and (?, h, y), as (y, h⁻¹, ?), by h⁻¹. Each reading starts from the known
argument of the head, and walks every atom of the body away from it, by r⁻¹ where that is from object to subject:
b(X, Y) ⇒ h(X, Y) ties b to h and b⁻¹ to h⁻¹; b(X, Y) ⇒ h(Y, X) ties b⁻¹ to h and b to h⁻¹; and r(X, Y), s(Y, Z) ⇒
t(X, Z) is also s⁻¹(Z, Y), r⁻¹(Y, X) ⇒ t⁻¹(Z, X). Formulas with another kind of head are read as written, and with all
atoms turned round.

Training needs no more than these two. A certificate has a third reading, of facts: the model's own score of a fact is
the mean of both directions, and the least of several means can exceed both least scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

import torch
from torch import Tensor

from clausal.adversary.clauses import ArgumentSlots, ClauseGroup
from clausal.bounds.blocks import LinearForms
from clausal.logic.normal_forms import simplified
from clausal.logic.shape import AtomShape, Shape, Slot
from clausal.logic.syntax import Implies, leaves, map_leaves
from clausal.model.predictor import LinkPredictor

Reading = Literal["fact", "object", "subject"]
"""What is scored: facts or, of a reciprocal model, answers to questions for the head's object or for its subject."""


@dataclass(frozen=True, eq=False)
class FactReading(ClauseGroup):
    """Clauses on fact scores: atom a is the mean of columns 2a, r(x, y), and 2a + 1, r⁻¹(y, x), of ``relations``."""

    @staticmethod
    def of(group: ClauseGroup, predictor: LinkPredictor) -> FactReading:
        """Read the clauses of a group as a reciprocal model scores facts."""
        rows = torch.stack([group.relations, predictor.inverse(group.relations)], 2).flatten(1)
        return FactReading(group.shape, group.clauses, rows, group.constants, group.weights)

    def slots(self, predictor: LinkPredictor) -> ArgumentSlots:
        slots = super().slots(predictor)
        subjects, objects = slots.positions
        return replace(slots, positions=(_alternating(subjects, objects), _alternating(objects, subjects)))

    def rows_of(self, atom: int) -> tuple[int, ...]:
        return 2 * atom, 2 * atom + 1

    def over_rows(self, forms: LinearForms) -> LinearForms:
        return LinearForms(forms.matrix.repeat_interleave(2, 1) / 2, forms.offsets)

    def scores(self, predictor: LinkPredictor, vectors: Tensor) -> Tensor:
        return self.row_scores(predictor, vectors).unflatten(-1, (-1, 2)).mean(-1)


def _alternating(one: list[int], other: list[int]) -> list[int]:
    return [slot for pair in zip(one, other, strict=True) for slot in pair]


def all_readings(group: ClauseGroup, predictor: LinkPredictor) -> dict[Reading, ClauseGroup]:
    """Return all that is certified of a group, by name: facts and, of a reciprocal model, both kinds of questions."""
    if predictor.rows_per_relation == 1:
        return {"fact": group}
    for_objects, for_subjects = readings_of([group], predictor)
    return {"fact": FactReading.of(group, predictor), "object": for_objects, "subject": for_subjects}


def readings_of(groups: Sequence[ClauseGroup], predictor: LinkPredictor) -> list[ClauseGroup]:
    """Return both readings of each group in turn for a reciprocal model, and the groups themselves for any other."""
    if predictor.rows_per_relation == 1:
        return list(groups)
    return [
        _read(group, turned, predictor) for group in groups for turned in (_turned(group.shape, way) for way in (0, 1))
    ]


def by_clause(groups: Sequence[ClauseGroup], values: Tensor) -> Tensor:
    """Return the largest value of the readings of each clause, from one for each clause of each group."""
    if not groups:
        return values
    by_group = values.split([len(group.clauses) for group in groups])
    together = groupby(zip(groups, by_group, strict=True), key=lambda pair: id(pair[0].clauses))
    return torch.cat([torch.stack([found for _, found in pairs]).amax(0) for _, pairs in together])


def _turned(shape: Shape, way: int) -> list[bool]:
    """Say for each atom whether a reading turns it round: way 0 asks for the head's second argument, 1 for its first.

    Atoms without a direction of their own, as r(X, X) has none, are turned in the second reading.
    """
    match simplified(shape.formula):
        case Implies(_, AtomShape() as head):
            start = head.slots[way]
            distance = _distances(shape, head, start)
        case _:
            return [bool(way)] * len(shape.atoms)

    def turns(atom: AtomShape) -> bool:
        near, far = (distance.get(slot, len(shape.atoms)) for slot in atom.slots)
        return bool(way) if atom == head or near == far else far < near

    return [turns(atom) for atom in shape.atoms]


def _distances(shape: Shape, head: AtomShape, start: Slot) -> dict[Slot, int]:
    """Return how many atoms of the body lead from a slot to each other one."""
    edges = [set(atom.slots) for atom in shape.atoms if atom != head]
    distance, reached = {start: 0}, {start}
    while reached:
        onward = {slot for edge in edges if edge & reached for slot in edge} - set(distance)
        distance |= dict.fromkeys(onward, 1 + max(distance.values()))
        reached = onward
    return distance


def _read(group: ClauseGroup, turned: Sequence[bool], predictor: LinkPredictor) -> ClauseGroup:
    def turn(atom: AtomShape) -> AtomShape:
        return AtomShape(atom.index, atom.object, atom.subject) if turned[atom.index] else atom

    formula = map_leaves(group.shape.formula, turn)
    mask = torch.tensor(turned, device=group.relations.device)
    relations = torch.where(mask, predictor.inverse(group.relations), group.relations)
    shape = replace(group.shape, formula=formula, atoms=tuple(leaves(formula)))
    return replace(group, shape=shape, relations=relations)
