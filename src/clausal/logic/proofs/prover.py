"""The prover: shortest proofs of the facts in a closure, and what nearly supports the facts that are not in it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from clausal.errors import InputError
from clausal.graph import Graph
from clausal.graph.query import Fact, fact_ids, name_fact
from clausal.logic.closure import Closure, close
from clausal.logic.grounding import FactIndex
from clausal.logic.proofs.near import NearSupport, near_supports
from clausal.logic.proofs.proof import Proof
from clausal.logic.proofs.shortest import ShortestProofs
from clausal.logic.rules import encode_rules
from clausal.logic.syntax import Clause


class Prover:
    """Proves facts by name. The clauses are those that the closure was made with, and it must be complete."""

    def __init__(self, graph: Graph, clauses: Iterable[Clause], closure: Closure) -> None:
        if not closure.complete:
            raise InputError("a closure that was stopped early does not tell what follows; close to the end")
        clauses = list(clauses)
        self._graph, self._closure = graph, closure
        self._certain = [clause for clause in clauses if clause.certainty == 1]
        self._rules = encode_rules(clauses, graph.entities, graph.relations).by_head
        self._index = FactIndex(closure.facts, len(graph.entities), len(graph.relations))
        self._shortest = ShortestProofs(graph, closure, self._index, self._rules)

    def prove(self, fact: Fact) -> Proof | None:
        """Return the shortest proof of a fact, or None where it does not follow.

        That is one with the fewest applications of clauses, counted in the tree. Of several the one is taken, at
        each step, whose premises could be derived in the fewest rounds, then that of the first clause. A fact that
        follows by certain clauses alone is proved by them, however much shorter a proof by others would be.
        """
        subject, relation, object = fact_ids(fact, self._graph)
        row = self._index.row(subject, relation, object)
        proof = None if row is None else self._build(row)
        if proof is not None and proof.certainty < 1 and self._certain:
            return self._by_certain_clauses.prove(fact) or proof
        return proof

    @cached_property
    def _by_certain_clauses(self) -> Prover:
        given = self._closure.facts[self._closure.round_of == 0]
        return Prover(self._graph, self._certain, close(self._graph, self._certain, facts=given))

    def near(self, fact: Fact, most: int | None = None) -> list[NearSupport]:
        """Return what nearly supports a fact that does not follow, best first: fewest missing facts.

        Then come those of which most other facts hold. For each clause and missing atom, up to 1,000 instances are
        looked at.
        """
        subject, relation, object = fact_ids(fact, self._graph)
        return near_supports(self._graph, self._index, self._rules.get(relation, ()), subject, object)[:most]

    def _build(self, goal: int) -> Proof:
        """Build the proof from its leaves up; with a stack, as it can be deeper than Python's."""
        chosen: dict[int, tuple[Clause, list[int]]] = {}
        proofs: dict[int, Proof] = {}
        waiting = [goal]
        while waiting:
            row = waiting[-1]
            if row in proofs:
                waiting.pop()
            elif self._shortest.is_given(row):
                proofs[row] = Proof(self._fact(row))
            elif row not in chosen:
                rule, premises = self._shortest.choose(row)
                chosen[row] = rule.clause, premises
                waiting.extend(reversed(premises))
            else:
                clause, premises = chosen[row]
                proofs[row] = Proof(self._fact(row), clause, tuple(proofs[premise] for premise in premises))
        return proofs[goal]

    def _fact(self, row: int) -> Fact:
        return name_fact(self._graph, self._index.facts[row].tolist())
