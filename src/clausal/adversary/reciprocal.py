"""Clauses on reciprocal models: each one is read twice, once for each direction in which its head is asked for.

A reciprocal model answers (x, h, ?) by h and (?, h, y), as (y, h⁻¹, ?), by h⁻¹. Each reading starts from the known
argument of the head, and walks every atom of the body away from it, by r⁻¹ where that is from object to subject:
b(X, Y) ⇒ h(X, Y) ties b to h and b⁻¹ to h⁻¹; b(X, Y) ⇒ h(Y, X) ties b⁻¹ to h and b to h⁻¹; and r(X, Y), s(Y, Z) ⇒
t(X, Z) is also s⁻¹(Z, Y), r⁻¹(Y, X) ⇒ t⁻¹(Z, X). Formulas with another kind of head are read as written, and with all
atoms turned round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import torch
from torch import Tensor

from clausal.adversary.clauses import ClauseGroup
from clausal.logic.normal_forms import simplified
from clausal.logic.shape import AtomShape, Shape, Slot
from clausal.logic.syntax import Implies, leaves, map_leaves
from clausal.model.predictor import LinkPredictor


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
