"""The closures of a run's train facts: under its own clauses, and under others that it is asked by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from clausal.errors import InputError
from clausal.graph.graph import Facts, Graph
from clausal.logic.syntax import Clause
from clausal.run.known_facts import SortedFacts

if TYPE_CHECKING:
    from clausal.logic.closure import Closure
    from clausal.run.run import Run


class KeptClosure:
    """Train and what follows from it by some clauses, computed when first asked for, by one thread."""

    def __init__(self, graph: Graph, clauses: Sequence[Clause]) -> None:
        self.clauses = clauses
        self._graph, self._lock = graph, Lock()
        self._closure: Closure | None = None

    def get(self) -> Closure:
        """Return the closure."""
        from clausal.logic.closure import close

        if not self.clauses:
            raise InputError("the run was trained without clauses, so train entails nothing; name some: --clauses FILE")
        with self._lock:
            if self._closure is None:
                self._closure = close(self._graph, self.clauses)
            return self._closure

    def keep(self, closure: Closure) -> None:
        """Take a closure that was computed already."""
        self._closure = closure

    @cached_property
    def facts(self) -> SortedFacts:
        """The facts of the closure, ready to be asked for."""
        return self._sorted(self.get().facts)

    @cached_property
    def certain(self) -> SortedFacts:
        """The facts that follow by clauses without exceptions, and train."""
        sure = [clause for clause in self.clauses if clause.certainty == 1]
        if len(sure) == len(self.clauses):
            return self.facts
        return KeptClosure(self._graph, sure).facts if sure else self._sorted(self._graph.train)

    def _sorted(self, facts: Facts) -> SortedFacts:
        return SortedFacts(facts, len(self._graph.entities), len(self._graph.relations))


class Closures:
    """The closure under a run's own clauses, and that under the last others; several threads may ask."""

    def __init__(self, graph: Graph, clauses: Sequence[Clause]) -> None:
        self._graph, self._own, self._other = graph, KeptClosure(graph, clauses), KeptClosure(graph, ())

    def under(self, clauses: Sequence[Clause] | None = None) -> KeptClosure:
        """Return the closure under the run's clauses, or under others."""
        if clauses is None:
            return self._own
        kept = self._other  # looked at once: another thread may put another in its place
        if kept.clauses is not clauses:
            kept = self._other = KeptClosure(self._graph, clauses)
        return kept


def keep_closure(run: Run, closure: Closure) -> None:
    """Let a run take what follows from its train by its own clauses from a closure that was computed already."""
    run._closures.under().keep(closure)
