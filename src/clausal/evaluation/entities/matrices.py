"""What a clause makes of the scores of its atoms: matrices that are computed some rows or columns at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import torch
from torch import Tensor

from clausal.consistency.semantics import Semantics
from clausal.evaluation.entities.atoms import AtomScores
from clausal.logic.shape import Skeleton


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
        return reduce(torch.minimum, [_or_nothing(atom, ids) for atom in self.atoms])

    def transposed(self) -> Conjunction:
        """Return the matrix with rows as columns and columns as rows."""
        return Conjunction(tuple(atom.transposed() for atom in self.atoms))


def _or_nothing(atom: AtomScores, ids: Tensor) -> Tensor:
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
