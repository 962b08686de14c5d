"""Rules whose body is a path, in arrays: 100,000s of them, for votes and for choosing those that people see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from clausal.logic.intervals import wilson_lower
from clausal.logic.mining.edges import Ids

Reals = NDArray[np.float64]

MOST_ATOMS = 3
"""Atoms of a body, at most."""

PRIOR = 5.0
"""Predictions that are held against every rule: few cases say little."""


@dataclass(frozen=True, eq=False)
class PathRules:
    """Rules h(X, Z) <= b1(X, Y1), …, bk(Y(k-1), Z) whose entities are all different, the most confident first.

    Labels b below ``relations`` are relations from subject to object; b + relations is the same from object to subject.
    A rule answers (x, h, ?) by b1 … bk, and (?, h, z) by the same path walked backwards. ``support`` counts the
    distinct pairs (x, z) of the body that are facts of the head, ``pairs`` all of them, in the facts that were mined.
    Where ``share`` is below 1, both are estimates, without bias, from that share of the entities at one end.

    ``known`` has two columns: the pairs whose subject, and whose object, has some fact of the head's relation.

    They are in the order of ``confidence``, then support, then length, head and labels.
    """

    relations: int
    heads: Ids
    bodies: Ids
    support: Reals
    pairs: Reals
    known: Reals
    share: Reals
    complete: bool = True
    """Whether no time limit ended the search."""

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def lengths(self) -> Ids:
        """Atoms of each body."""
        atoms: Ids = (self.bodies >= 0).sum(axis=1)
        return atoms

    @property
    def confidence(self) -> Reals:
        """Smoothed confidence, which votes use: support / (pairs + 5), of the cases that were seen."""
        return self.support * self.share / (self.pairs * self.share + PRIOR)

    @property
    def answer_confidence(self) -> Reals:
        """The same for answers to (x, h, ?) and to (?, h, z), two columns, corrected for what the facts lack.

        A question has some answer. So a pair counts against a rule only where some answer to its question is known:
        of the other questions the facts lack all answers, and whether the rule is right there nobody knows.
        """
        asked = np.maximum(self.known, self.support[:, None]) * self.share[:, None]
        return (self.support * self.share)[:, None] / (asked + PRIOR)

    @property
    def lower_bound(self) -> Reals:
        """Lower bound (95 %) of the share of predictions that are facts; estimates count the cases that were seen."""
        return wilson_lower(self.support * self.share, self.pairs * self.share)

    def select(self, chosen: Ids | NDArray[np.bool_]) -> PathRules:
        """Return some of the rules, by a mask or by their places in order."""
        return self._rows(np.arange(len(self))[chosen])

    def _rows(self, rows: Ids) -> PathRules:
        columns = {
            name: getattr(self, name)[rows] for name in ("heads", "bodies", "support", "pairs", "known", "share")
        }
        return PathRules(self.relations, **columns, complete=self.complete)

    def sorted(self) -> PathRules:
        """Return the rules in their order."""
        columns = (*self.bodies.T[::-1], self.heads, self.lengths, -self.support, -self.confidence)
        return self._rows(np.lexsort(columns))

    @staticmethod
    def joined(relations: int, parts: Sequence[PathRules], complete: bool = True) -> PathRules:
        """Return the rules of all parts, in order."""
        if not parts:
            none = np.empty(0)
            heads, bodies = none.astype(np.int64), np.empty((0, MOST_ATOMS), np.int64)
            return PathRules(relations, heads, bodies, none, none, np.empty((0, 2)), none, complete)
        names = [field.name for field in fields(PathRules)][1:-1]
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return PathRules(relations, **columns, complete=complete).sorted()
