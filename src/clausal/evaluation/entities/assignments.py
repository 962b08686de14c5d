"""Clauses of three or more variables that are no chains, or chains under other semantics: every assignment in turn.

Work grows with the power of the variables, so there is a limit to it: ``MOST_ASSIGNMENTS``. Within the limit the scores
of all pairs of entities fit into memory, and are computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import product

import torch
from torch import Tensor

from clausal.evaluation.entities.chains import Chain
from clausal.evaluation.entities.matrices import ClauseScores, Memory
from clausal.evaluation.entities.tally import Tally
from clausal.logic.shape import AtomShape, Skeleton
from clausal.logic.syntax import leaves

MOST_ASSIGNMENTS = 10**9
"""Assignments of a clause that are walked through, some ten seconds of work: three variables over 1,000 entities."""
_IN_CACHE = 2**17
"""Numbers of a block, which are few as each is touched many times."""


class AssignmentCheck:
    """Checks one clause on every assignment; of a chain, on every pair of ends with the middles that violate it most.

    Two variables run over the rows and columns of a block, and the outer ones over all entities in turn.
    """

    def __init__(self, scores: ClauseScores, chain: Chain | None, memory: Memory) -> None:
        self.scores = scores
        self.chain = chain
        self.memory = memory
        self.shape = scores.group.shape
        self.entities = scores.predictor.num_entities
        ends = (
            (chain.variables[0], chain.variables[-1]) if chain else (self.shape.variables - 2, self.shape.variables - 1)
        )
        self.outer = [variable for variable in range(self.shape.variables) if variable not in ends]
        self.order = [*self.outer, *ends]
        atoms = self.shape.atoms
        self.tables = [self._table(atom, lambda found, ids: found.rows(ids)) for atom in atoms]
        self.known = None
        if scores.indicator is not None:
            self.known = [self._table(atom, lambda found, ids: found.exists(ids)) for atom in atoms]

    def run(self, tally: Tally, advance: Callable[[int], None]) -> list[int]:
        """Tally all assignments; return the entities of the worst one by variable."""
        worst = (0,) * len(self.outer)
        everyone = torch.arange(self.entities, device=self.memory.device)
        at_once = self.memory.rows(self.entities, matrices=2 * len(self.tables) + 4)
        for ids in everyone.split(max(1, min(at_once, _IN_CACHE // self.entities))):
            start, rows = int(ids[0]), slice(int(ids[0]), int(ids[-1]) + 1)
            if self.chain is not None:
                violations = (self._violation(outer, rows) for outer in self._outer_assignments())
                tally.add(reduce(torch.maximum, violations), self._has_head(rows), start, 0)
            else:
                for outer in self._outer_assignments():
                    before = tally.largest
                    tally.add(self._violation(outer, rows), self._exists(outer, rows), start, 0)
                    worst = outer if tally.largest > before else worst
            advance(len(ids))
        if self.chain is not None:
            worst = self._middles(tally.row, tally.column)
        entities = dict(zip(self.order, (*worst, tally.row, tally.column), strict=True))
        return [entities[variable] for variable in sorted(entities)]

    def _outer_assignments(self) -> Iterator[tuple[int, ...]]:
        return product(range(self.entities), repeat=len(self.outer))

    def _violation(self, outer: tuple[int, ...], rows: slice) -> Tensor:
        """Return the violation of a block for given entities of the outer variables; 0 where a pair has no vector."""
        shape = (rows.stop - rows.start, self.entities)
        views = [
            self._view(table, atom, outer, rows) for table, atom in zip(self.tables, self.shape.atoms, strict=True)
        ]
        stacked = torch.stack([view.expand(shape) for view in views]).movedim(0, -1)
        violation = self.scores.semantics.violation(self.shape.formula, stacked)
        exists = self._exists(outer, rows)
        return violation if exists is None else torch.where(exists, violation, 0)

    def _exists(self, outer: tuple[int, ...], rows: slice) -> Tensor | None:
        """Say where in a block every pair has a vector; None if everywhere."""
        return self._all_known(self.shape.formula, outer, rows)

    def _has_head(self, rows: slice) -> Tensor | None:
        """Say which pairs of a chain's ends have a head to score; None if all."""
        assert self.chain is not None
        nobody = (0,) * len(self.outer)  # the head has no middle
        return None if self.chain.head is None else self._all_known(self.chain.head, nobody, rows)

    def _all_known(self, formula: Skeleton, outer: tuple[int, ...], rows: slice) -> Tensor | None:
        if self.known is None:
            return None
        views = [self._view(self.known[atom.index], atom, outer, rows) for atom in leaves(formula)]
        return reduce(torch.logical_and, views).expand(rows.stop - rows.start, self.entities)

    def _middles(self, first: int, last: int) -> tuple[int, ...]:
        """Return the middles that violate a chain most between two ends."""
        row = slice(first, first + 1)
        return max(self._outer_assignments(), key=lambda outer: self._violation(outer, row)[0, last].item())

    def _variables(self, atom: AtomShape) -> list[int]:
        """Return the variables of an atom, the outer ones first."""
        return sorted({slot.index for slot in atom.slots if slot.kind == "variable"}, key=self.order.index)

    def _table(self, atom: AtomShape, values: Callable[..., Tensor]) -> Tensor:
        """Return an atom's scores with one dimension for each of its variables."""
        row, column, *_ = *self._variables(atom), -1, -1
        found = self.scores.atom(atom.index, row, column)
        everyone = torch.arange(self.entities if row >= 0 else 1, device=self.memory.device)
        at_once = self.memory.rows(self.entities, matrices=4)
        table = torch.cat([values(found, ids).expand(len(ids), -1) for ids in everyone.split(at_once)])
        return table if column >= 0 else table[:, 0] if row >= 0 else table[0, 0]

    def _view(self, table: Tensor, atom: AtomShape, outer: tuple[int, ...], rows: slice) -> Tensor:
        """Return the part of a table that a block needs: [rows, columns], with 1 for what it does not depend on."""
        variables = self._variables(atom)
        first, last = (variable in variables for variable in self.order[-2:])
        part = table[tuple(entity for variable, entity in zip(self.outer, outer, strict=True) if variable in variables)]
        part = part[rows] if first else part
        return part.reshape(part.shape[0] if first else 1, part.shape[-1] if last else 1)
