"""Clauses on vectors: clauses of one shape as tensors, scored together in one operation on an adversarial set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from clausal.adversary.semantics import Semantics
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
    relations: Tensor  # [clauses, atoms]
    constants: Tensor  # [clauses, constants]
    weights: Tensor  # [clauses]

    def to(self, device: torch.device) -> ClauseGroup:
        """Return the group with its tensors on ``device``; itself if they are there, as adversaries know it by."""
        if self.relations.to(device) is self.relations:
            return self
        tensors = (tensor.to(device) for tensor in (self.relations, self.constants, self.weights))
        return ClauseGroup(self.shape, self.clauses, *tensors)

    def violation(self, predictor: LinkPredictor, semantics: Semantics, vectors: Tensor) -> Tensor:
        """Say how much each clause is violated on each set of vectors [clauses, sets, slots, dim] → [clauses, sets]."""
        slots = ArgumentSlots.of(self.shape, predictor.scorer.arguments)
        if slots.fixed:
            constants = self.constant_vectors(predictor).unsqueeze(1)
            vectors = torch.cat([vectors, constants.expand(-1, vectors.shape[1], -1, -1)], 2)
        # Slot by slot, as a list of indices would travel to the device each time.
        by_slot = vectors.unbind(2)
        arguments = [torch.stack([by_slot[slot] for slot in places], 2) for places in slots.positions]
        relation = predictor.relation(self.relations).unsqueeze(1)  # [clauses, 1, atoms, relation_dim]
        scores = predictor.scorer.score(relation, *arguments)  # [clauses, sets, atoms]
        return semantics.violation(self.shape.formula, scores)

    def constant_vectors(self, predictor: LinkPredictor) -> Tensor:
        """Return the vectors that the model gives to the fixed slots [clauses, fixed, dim]."""
        slots = ArgumentSlots.of(self.shape, predictor.scorer.arguments)
        if not slots.fixed:
            return predictor.relations.new_empty(len(self.clauses), 0, predictor.scorer.dim)
        columns = [torch.stack([self.constants[:, i] for i in ids], 1) for ids in zip(*slots.fixed, strict=True)]
        return predictor.fixed_arguments(*columns)


@dataclass(frozen=True)
class ArgumentSlots:
    """Which vectors the atoms of a shape are scored on.

    ``free`` vectors are the adversary's to choose: one for each variable or, for a scorer of entity pairs, one for
    each pair that holds a variable. ``fixed`` ones follow them: tuples of constants whose vector the model gives.
    ``positions[i]`` lists for each atom the slot of its i-th argument.
    """

    free: int
    fixed: tuple[tuple[int, ...], ...]
    positions: tuple[list[int], ...]

    @staticmethod
    @cache
    def of(shape: Shape, arguments: int) -> ArgumentSlots:
        """Lay out the slots of a shape for a scorer with that many arguments."""
        by_atom = [_argument_keys(atom, arguments) for atom in shape.atoms]
        keys = list(dict.fromkeys(key for keys in by_atom for key in keys))
        free = [key for key in keys if any(slot.kind == "variable" for slot in key)]
        fixed = [key for key in keys if key not in free]
        if arguments == 2:
            free.sort(key=lambda key: key[0].index)  # by variable, also where atoms are turned round
        order = {key: position for position, key in enumerate(free + fixed)}
        return ArgumentSlots(
            free=len(free),
            fixed=tuple(tuple(slot.index for slot in key) for key in fixed),
            positions=tuple([order[keys[i]] for keys in by_atom] for i in range(arguments)),
        )


def _argument_keys(atom: AtomShape, arguments: int) -> list[tuple[Slot, ...]]:
    """Return what each argument of an atom stands for: a term each, or the pair of both."""
    return [(atom.subject,), (atom.object,)] if arguments == 2 else [(atom.subject, atom.object)]


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
