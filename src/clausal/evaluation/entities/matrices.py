"""What a clause makes of the scores of its atoms: matrices over pairs of entities, computed some rows at a time.

``ClauseScores`` gives the scores of a clause's atoms (``AtomScores``) and formulas (``FormulaScores``), once it is said
which variable runs over rows and which over columns; ``Conjunction`` is the least score of several atoms. ``Memory``
says how many rows or columns to take at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import torch
from torch import Tensor

from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.semantics import Semantics
from clausal.evaluation.entities.atoms import AtomScores, Block, Place
from clausal.logic.shape import AtomShape, Skeleton, Slot
from clausal.logic.syntax import leaves, map_leaves
from clausal.model.predictor import LinkPredictor

DEFAULT_MEMORY = 512 * 2**20
"""Bytes for scores and the work on them, beside the model itself."""

_IN_CACHE = 2**20
"""Most numbers of a block on a CPU, which then finds them in its cache."""
_ON_A_DEVICE = 2**26
"""Most numbers of a block on other devices."""
_FLOAT64 = 8
"""Bytes of a number, at most."""
_MOST_COLUMNS = 512
"""Columns that are held at once on a CPU."""
_MOST_MIDDLES = 1024
"""Middles that are kept for each entity."""


@dataclass(frozen=True)
class Memory:
    """A budget in bytes, and how many numbers, rows or columns it allows to hold at once."""

    budget: int
    device: torch.device

    @property
    def block(self) -> int:
        """Numbers in a piece of work on which a few operations follow one another."""
        return min(_IN_CACHE if self.device.type == "cpu" else _ON_A_DEVICE, self.budget // (8 * _FLOAT64))

    def rows(self, entities: int, matrices: int) -> int:
        """How many rows of a score matrix to take at once, when that many matrices of them are needed."""
        return max(1, min(entities, self.block // entities, self.budget // (_FLOAT64 * entities * matrices)))

    def columns(self, entities: int, matrices: int) -> int:
        """How many columns to hold at once: more than rows, as much work is done on each, in half the budget."""
        limit = _MOST_COLUMNS if self.device.type == "cpu" else entities
        return max(1, min(entities, limit, self.budget // (2 * _FLOAT64 * entities * matrices)))

    def depth(self, entities: int) -> int:
        """How many of its best middles to keep for each entity, with a score and an id each, in a quarter."""
        return max(1, min(entities, _MOST_MIDDLES, self.budget // (4 * 2 * _FLOAT64 * entities)))


class Matrix(Protocol):
    """A matrix [entities, entities] that is computed where it is asked for."""

    def rows(self, ids: Tensor) -> Tensor:
        """Return rows: ids [b] → [b, entities]."""


@dataclass(frozen=True)
class Conjunction:
    """The least score of atoms, at least one of which has both variables; −∞ where a pair has no vector."""

    atoms: tuple[AtomScores, ...]

    def rows(self, ids: Tensor) -> Tensor:
        """Return rows: ids [b] → [b, entities]."""
        return reduce(torch.minimum, [_scores_or_minus_infinity(atom, ids) for atom in self.atoms])

    def transposed(self) -> Conjunction:
        """Return the matrix with rows as columns and columns as rows."""
        return Conjunction(tuple(atom.transposed() for atom in self.atoms))


def _scores_or_minus_infinity(atom: AtomScores, ids: Tensor) -> Tensor:
    exists = atom.exists(ids)
    return atom.rows(ids) if exists is None else torch.where(exists, atom.rows(ids), -torch.inf)


@dataclass(frozen=True)
class FormulaScores:
    """The scores of the atoms of a formula, from which a semantics gives its value or violation."""

    semantics: Semantics
    formula: Skeleton
    atoms: tuple[AtomScores, ...]  # in the order of the formula's leaves
    width: int  # how many columns: one for each entity, or one alone for a clause of fewer than two variables

    def value(self, ids: Tensor) -> Tensor:
        """Return the formula's value: ids of rows [b] → [b, width]."""
        return self.semantics.value(self.formula, self._stacked(ids))

    def violation(self, ids: Tensor) -> Tensor:
        """Return the formula's violation: ids of rows [b] → [b, width]."""
        return self.semantics.violation(self.formula, self._stacked(ids))

    def exists(self, ids: Tensor) -> Tensor | None:
        """Say for which assignments the model has every pair that it must score; None if for all."""
        masks = [mask for mask in (atom.exists(ids) for atom in self.atoms) if mask is not None]
        return reduce(torch.logical_and, masks).expand(len(ids), self.width) if masks else None

    def transposed(self) -> FormulaScores:
        """Return the scores with rows as columns and columns as rows."""
        return FormulaScores(self.semantics, self.formula, tuple(atom.transposed() for atom in self.atoms), self.width)

    def _stacked(self, ids: Tensor) -> Tensor:
        # One atom after another in memory, so that each is contiguous when the semantics picks it.
        scores = torch.stack([atom.rows(ids).expand(len(ids), self.width) for atom in self.atoms])
        return scores.movedim(0, -1)  # [b, width, atoms]


@dataclass(frozen=True)
class ClauseScores:
    """The scores of the atoms of one clause of a group."""

    predictor: LinkPredictor
    indicator: LinkPredictor | None
    group: ClauseGroup
    clause: int
    semantics: Semantics
    block: Block | None = None

    def atom(self, index: int, row: int, column: int) -> AtomScores:
        """Return the scores of an atom when these variables, by number, run over rows and columns."""

        def place(slot: Slot) -> Place:
            if slot.kind == "constant":
                return int(self.group.constants[self.clause, slot.index])
            return "row" if slot.index == row else "column"

        shape = self.group.shape.atoms[index]
        assert all(slot.kind == "constant" or slot.index in (row, column) for slot in shape.slots)
        relation, *inverse = (int(self.group.relations[self.clause, row]) for row in self.group.rows_of(index))
        return AtomScores(
            self.predictor,
            self.indicator,
            relation,
            place(shape.subject),
            place(shape.object),
            inverse[0] if inverse else None,
            self.block,
        )

    def formula(self, formula: Skeleton, row: int, column: int) -> FormulaScores:
        """Return the scores of a formula over some of the clause's atoms, for these variables."""
        order = [atom.index for atom in leaves(formula)]
        numbers = iter(range(len(order)))
        renumbered = map_leaves(formula, lambda atom: AtomShape(next(numbers), atom.subject, atom.object))
        width = self.predictor.num_entities if self.group.shape.variables > 1 else 1
        atoms = tuple(self.atom(index, row, column) for index in order)
        return FormulaScores(self.semantics, renumbered, atoms, width)
