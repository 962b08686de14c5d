"""Clauses on vectors: clauses of one shape as tensors, scored together in one operation on an adversarial set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from clausal.adversary.semantics import Semantics
from clausal.bounds.blocks import LinearForms
from clausal.errors import InputError
from clausal.graph.vocabulary import Names
from clausal.logic.lines import place
from clausal.logic.normal_forms import simplified
from clausal.logic.shape import AtomShape, Shape, Slot, shape_of
from clausal.logic.syntax import Clause, Falsum
from clausal.model.predictor import LinkPredictor


@dataclass(frozen=True, eq=False)
class ClauseGroup:
    """Clauses that differ only in the names of relations and constants, and in weight."""

    shape: Shape
    clauses: tuple[Clause, ...]
    relations: Tensor  # [clauses, atoms], rows of the model's relation table
    constants: Tensor  # [clauses, constants]
    weights: Tensor  # [clauses]

    def __len__(self) -> int:
        return len(self.clauses)

    def to(self, device: torch.device) -> ClauseGroup:
        """Return the group with its tensors on ``device``; itself if they are there, as adversaries know it by."""
        if self.relations.to(device) is self.relations:
            return self
        relations, constants, weights = (one.to(device) for one in (self.relations, self.constants, self.weights))
        return replace(self, relations=relations, constants=constants, weights=weights)

    def some(self, places: Tensor, clauses: tuple[Clause, ...]) -> ClauseGroup:
        """Return the clauses at some places, which are ``clauses``, as a group of their own."""
        places = places.to(self.relations.device)
        return replace(
            self,
            clauses=clauses,
            relations=self.relations[places],
            constants=self.constants[places],
            weights=self.weights[places],
        )

    def slots(self, predictor: LinkPredictor) -> ArgumentSlots:
        """Say which vectors the atoms are scored on by this predictor."""
        return ArgumentSlots.of(self.shape, predictor.of_pairs)

    def violation(self, predictor: LinkPredictor, semantics: Semantics, vectors: Tensor) -> Tensor:
        """Say how much each clause is violated on each set of vectors [clauses, sets, free, dim] → [clauses, sets]."""
        return semantics.violation(self.shape.formula, self.scores(predictor, vectors))

    def rows_of(self, atom: int) -> tuple[int, ...]:
        """Return the columns of ``relations`` that an atom is scored by: one, or two whose mean counts."""
        return (atom,)

    def over_rows(self, forms: LinearForms) -> LinearForms:
        """Return forms in the scores of atoms as forms in those of the columns of ``relations``."""
        return forms

    def unclipped(self, predictor: LinkPredictor, semantics: Semantics, vectors: Tensor) -> Tensor:
        """Return the violation of each clause on each set before it is cut off at 0: as ``violation``."""
        return semantics.unclipped(self.shape.formula, self.scores(predictor, vectors))

    def scores(self, predictor: LinkPredictor, vectors: Tensor) -> Tensor:
        """Score every atom on each set of vectors [clauses, sets, free, dim] → [clauses, sets, atoms]."""
        return self.row_scores(predictor, vectors)

    def row_scores(self, predictor: LinkPredictor, vectors: Tensor) -> Tensor:
        """Score every column of ``relations`` on each set of vectors → [clauses, sets, columns]."""
        constants = self.constant_vectors(predictor)
        if constants.shape[1]:
            vectors = torch.cat([vectors, constants.unsqueeze(1).expand(-1, vectors.shape[1], -1, -1)], 2)
        # Slot by slot, as a list of indices would travel to the device each time.
        by_slot, slots = vectors.unbind(2), self.slots(predictor)
        subject, object = (torch.stack([by_slot[slot] for slot in of_atoms], 2) for of_atoms in slots.positions)
        relation = predictor.relation(self.relations).unsqueeze(1)  # [clauses, 1, columns, relation_dim]
        return predictor.scorer.score(subject, relation, object)

    def constant_vectors(self, predictor: LinkPredictor) -> Tensor:
        """Return the vectors that the model gives to the fixed slots [clauses, fixed, dim]."""
        fixed = self.slots(predictor).fixed
        if not fixed and not predictor.of_pairs:
            return predictor.relations.new_empty(len(self), 0, predictor.scorer.dim)
        width = 2 if predictor.of_pairs else 1
        columns = [torch.stack([self.constants[:, place] for place in places], 1) for places in fixed]
        ids = torch.stack(columns, 1) if columns else self.constants.new_empty(len(self), 0, width)
        return predictor.constant_vectors(ids)  # [clauses, fixed, width] → [clauses, fixed, dim]


@dataclass(frozen=True)
class ArgumentSlots:
    """Which vectors the atoms of a shape are scored on.

    ``free`` vectors are the adversary's to choose: one for each variable or, where a model has vectors of entity
    pairs, one for each pair that holds a variable. The fixed ones follow them, whose vectors the model gives: ``fixed``
    says which constants they stand for. ``positions`` are the slots of all atoms' subjects and of all objects.
    """

    free: int
    fixed: tuple[tuple[int, ...], ...]
    positions: tuple[list[int], list[int]]

    @staticmethod
    @cache
    def of(shape: Shape, pairs: bool = False) -> ArgumentSlots:
        """Lay out the slots of a shape for a model of entities, or of entity pairs."""
        by_atom = [_slots_of(atom, pairs) for atom in shape.atoms]
        distinct = list(dict.fromkeys(key for keys in by_atom for key in keys))
        free = [key for key in distinct if any(slot.kind == "variable" for slot in key)]
        fixed = [key for key in distinct if key not in free]
        if not pairs:
            free.sort(key=lambda key: key[0].index)  # by variable, also where atoms are turned round
        order = {key: position for position, key in enumerate(free + fixed)}
        subjects = [order[keys[0]] for keys in by_atom]
        # The object of a pair is the vector of ones that a model of pairs has after the constants.
        objects = [len(order)] * len(by_atom) if pairs else [order[keys[1]] for keys in by_atom]
        return ArgumentSlots(
            free=len(free),
            fixed=tuple(tuple(slot.index for slot in key) for key in fixed),
            positions=(subjects, objects),
        )


def _slots_of(atom: AtomShape, pairs: bool) -> list[tuple[Slot, ...]]:
    """Return what the vectors of an atom stand for: a term each, or the pair of both."""
    return [(atom.subject, atom.object)] if pairs else [(atom.subject,), (atom.object,)]


def group_clauses(clauses: Sequence[Clause], entities: Names, relations: Names) -> list[ClauseGroup]:
    """Gather clauses by shape and look up their names."""
    members: dict[Shape, list[tuple[Clause, list[int], list[int]]]] = {}
    for clause in clauses:
        shape, relation_names, constant_names = shape_of(clause)
        if simplified(shape.formula) == Falsum():
            where = place(clause.source, clause.line, None)
            raise InputError(f"{where + ': ' if where else ''}'{clause}' never holds, whatever the facts; remove it")
        relation_ids = [relations.id(name) for name in relation_names]
        constant_ids = [entities.id(name) for name in constant_names]
        members.setdefault(shape, []).append((clause, relation_ids, constant_ids))
    return [
        ClauseGroup(
            shape=shape,
            clauses=tuple(clause for clause, _, _ in group),
            relations=torch.tensor([ids for _, ids, _ in group]),
            constants=torch.tensor([ids for _, _, ids in group], dtype=torch.long),
            weights=torch.tensor([clause.weight for clause, _, _ in group]),
        )
        for shape, group in members.items()
    ]
