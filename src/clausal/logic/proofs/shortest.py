"""The size of a fact's shortest proof, searched backwards from the fact: a best-first search with lower bounds.

The round in which a fact is first derived is the least height of its proofs, and so a lower bound on their size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError, RunError
from clausal.graph import Graph
from clausal.graph.query import name_fact
from clausal.logic.closure import Closure
from clausal.logic.grounding import FactIndex, Ids, ground
from clausal.logic.rules import Rule

_MOST_DERIVATIONS = 10_000_000  # of one fact by one clause, while they are joined
_MOST_CACHED = 5_000_000


class Derivations(NamedTuple):
    """The ways to derive a fact in one step: those whose premises have the least heights first, then by clause.

    ``premises`` are rows of the closure in the order of the body. Shapes [ways] and [ways, longest body].
    """

    rules: NDArray[np.int32]
    premises: Ids


class ShortestProofs:
    """What is known of the sizes of shortest proofs: a lower bound for each fact, and whether it is the size."""

    def __init__(self, graph: Graph, closure: Closure, index: FactIndex, rules: Mapping[int, Sequence[Rule]]) -> None:
        self._graph, self._index, self._rules = graph, index, rules
        # One row more than facts: the premise that fills up bodies shorter than the longest, and costs nothing.
        self._height = np.append(closure.round_of, 0).astype(np.int64)
        self._bound = self._height.copy()
        self._exact = self._height <= 1
        self._cached: dict[int, Derivations] = {}
        self._cached_premises = 0

    def is_given(self, fact: int) -> bool:
        """Tell whether the fact in a row is a given one."""
        return bool(self._height[fact] == 0)

    def choose(self, fact: int) -> tuple[Rule, list[int]]:
        """Return the last step of the shortest proof of a derived fact, of several the first: rule and premises."""
        self._settle(fact)
        rules, premises = self._derivations(fact)
        while True:
            # The sum is a lower bound on what a derivation costs, and none is below the size that is known now.
            first = int(np.argmax(1 + self._bound[premises].sum(1) == self._bound[fact]))
            waiting = [row for row in premises[first].tolist() if not self._exact[row]]
            if not waiting:
                break
            self._search(waiting[0], int(self._bound[waiting[0]]))
        rule = self._rules[int(self._index.facts[fact, 1])][rules[first]]
        return rule, premises[first, : len(rule.shape.body)].tolist()

    def _settle(self, fact: int) -> None:
        budget = int(self._bound[fact])
        while not self._exact[fact]:
            self._search(fact, budget)
            budget = max(int(self._bound[fact]), _larger(budget))

    def _search(self, goal: int, budget: int) -> None:
        """Find the size of the shortest proof of a fact, or that it is larger than the budget.

        Always looks at the derivation that could be the cheapest. When all its premises have known sizes, it is the
        cheapest; until then, one of them is searched with what is left of the budget, which shrinks from fact to
        premise, so that cycles end.
        """
        bound, exact = self._bound, self._exact
        stack = [(goal, budget)]
        while stack:
            fact, budget = stack[-1]
            if exact[fact] or bound[fact] > budget:
                stack.pop()
                continue
            premises = self._derivations(fact).premises
            sizes = 1 + bound[premises].sum(1)
            cheapest = int(sizes.argmin())
            size = bound[fact] = int(sizes[cheapest])
            if size > budget:
                continue
            waiting = [row for row in premises[cheapest].tolist() if not exact[row]]
            if waiting:
                # Not the whole budget: another derivation may be cheaper once this premise proves dear.
                left = min(budget, _larger(size)) - size
                stack.append((waiting[0], int(bound[waiting[0]]) + left))
            else:
                exact[fact] = True

    def _derivations(self, fact: int) -> Derivations:
        if fact not in self._cached:
            if self._cached_premises > _MOST_CACHED:
                self._cached.clear()
                self._cached_premises = 0
            self._cached[fact] = found = self._derive(fact)
            self._cached_premises += found.premises.size
        return self._cached[fact]

    def _derive(self, fact: int) -> Derivations:
        subject, relation, object = self._index.facts[fact].tolist()
        rules = self._rules.get(relation, ())
        width = max((len(rule.shape.body) for rule in rules), default=0)
        numbers, premises = [], []
        for number, rule in enumerate(rules):
            binding = rule.match_head(subject, object)
            if binding is None:
                continue
            found = ground(self._index, rule, binding=binding, most=_MOST_DERIVATIONS)
            if found.cut:
                raise RunError(
                    f"{name_fact(self._graph, (subject, relation, object))}: more than {_MOST_DERIVATIONS:,} "
                    f"derivations by '{rule.clause}'; leave that clause out"
                )
            rows = np.full((found.count, width), len(self._height) - 1)
            for position, column in found.rows.items():
                rows[:, position] = column
            rows = rows[(rows != fact).all(1)]  # from itself nothing is derived in fewer steps
            numbers.append(np.full(len(rows), number, dtype=np.int32))
            premises.append(rows)
        if not sum(map(len, premises)):
            raise InputError("the closure was not made with these clauses; give those that it was made with")
        together = np.concatenate(premises)
        order = np.argsort(self._height[together].sum(1), kind="stable")
        return Derivations(np.concatenate(numbers)[order], together[order])


def _larger(budget: int) -> int:
    """Return a larger budget: little more for small proofs, and few steps to the size of a large one."""
    return budget + max(1, budget // 4)
