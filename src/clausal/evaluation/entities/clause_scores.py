"""The scores of a clause's atoms and formulas, once it is said which variables run over rows and columns."""

from __future__ import annotations

from dataclasses import dataclass

from clausal.consistency.clauses import ClauseGroup
from clausal.consistency.semantics import Semantics
from clausal.evaluation.entities.atoms import AtomScores, Place
from clausal.evaluation.entities.matrices import FormulaScores
from clausal.logic.shape import AtomShape, Skeleton, Slot
from clausal.logic.syntax import leaves, map_leaves
from clausal.model.predictor import LinkPredictor


@dataclass(frozen=True)
class ClauseScores:
    """The scores of the atoms of one clause of a group."""

    predictor: LinkPredictor
    indicator: LinkPredictor | None
    group: ClauseGroup
    clause: int
    semantics: Semantics

    def atom(self, index: int, row: int, column: int) -> AtomScores:
        """Return the scores of an atom when these variables, by number, run over rows and columns."""

        def place(slot: Slot) -> Place:
            if slot.kind == "constant":
                return int(self.group.constants[self.clause, slot.index])
            return "row" if slot.index == row else "column"

        shape = self.group.shape.atoms[index]
        assert all(slot.kind == "constant" or slot.index in (row, column) for slot in shape.slots)
        relation = int(self.group.relations[self.clause, index])
        return AtomScores(self.predictor, self.indicator, relation, place(shape.subject), place(shape.object))

    def formula(self, formula: Skeleton, row: int, column: int) -> FormulaScores:
        """Return the scores of a formula over some of the clause's atoms, for these variables."""
        order = [atom.index for atom in leaves(formula)]
        numbers = iter(range(len(order)))
        renumbered = map_leaves(formula, lambda atom: AtomShape(next(numbers), atom.subject, atom.object))
        width = self.predictor.num_entities if self.group.shape.variables > 1 else 1
        atoms = tuple(self.atom(index, row, column) for index in order)
        return FormulaScores(self.semantics, renumbered, atoms, width)
