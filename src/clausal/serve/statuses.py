"""What is known of a fact: the graph has it, train entails it, rules say so, or the model alone does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import RLock
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.graph.graph import Graph
from clausal.graph.query import Fact, name_fact
from clausal.logic.closure import Closure, close
from clausal.logic.proofs import Proof, Prover
from clausal.logic.syntax import Clause
from clausal.run import Answer, Run
from clausal.run.known_facts import SortedFacts

Status = Literal["known", "entailed", "rule", "predicted"]
_MOST_KEPT = 100_000


class Standing(NamedTuple):
    """The status of a fact; ``confidence`` is that of the least sure rule where rules with exceptions say so.

    ``follows`` says whether train has or entails the fact, which one of valid or test may also do.
    """

    status: Status
    confidence: float | None = None
    follows: Literal["entailed", "rule"] | None = None


KNOWN, KNOWN_ENTAILED = Standing("known"), Standing("known", None, "entailed")
KNOWN_BY_RULE = Standing("known", None, "rule")
ENTAILED, PREDICTED = Standing("entailed", None, "entailed"), Standing("predicted")


class Consequences:
    """What follows from train by some clauses, ready to be asked; by one thread at a time, as proofs are kept."""

    def __init__(self, graph: Graph, clauses: Sequence[Clause], closure: Closure) -> None:
        self.graph, self.clauses, self.closure = graph, clauses, closure
        self.facts = SortedFacts(closure.facts, len(graph.entities), len(graph.relations))
        self.lock = RLock()

    @cached_property
    def prover(self) -> Prover:
        """Proves facts; take the lock."""
        return Prover(self.graph, self.clauses, self.closure)


class Statuses:
    """The statuses of facts in a run. Clauses without exceptions alone entail; others say so with a confidence."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._kept: dict[tuple[int, ...], Standing] = {}
        self.all: Consequences | None = None
        self.certain: Consequences | None = None
        if run.clauses:
            self.all = self.certain = Consequences(run.graph, run.clauses, run.closure)
            sure = [clause for clause in run.clauses if clause.certainty == 1]
            if len(sure) < len(run.clauses):
                self.certain = Consequences(run.graph, sure, close(run.graph, sure)) if sure else None

    def of_answers(self, answers: Sequence[Answer]) -> list[Standing]:
        """Return the standing of each answer."""
        if self.all is None:
            return [KNOWN if answer.known else PREDICTED for answer in answers]
        entities, relations = self.run.graph.entities, self.run.graph.relations
        columns = [
            entities.ids([answer.subject for answer in answers]),
            relations.ids([answer.relation for answer in answers]),
            entities.ids([answer.object for answer in answers]),
        ]
        return self.of_facts(np.stack(columns, 1), [answer.known for answer in answers])

    def of_facts(self, facts: NDArray[np.integer[Any]], known: Sequence[bool]) -> list[Standing]:
        """Return the standing of each fact given by ids [facts, 3]; ``known`` says which of them the graph has."""
        if self.all is None:
            return [KNOWN if one else PREDICTED for one in known]
        follows = self.all.facts.has(facts).tolist()
        sure = (
            follows
            if self.certain is self.all
            else ([False] * len(facts) if self.certain is None else self.certain.facts.has(facts).tolist())
        )
        found = []
        for row, has, derived, entailed in zip(facts, known, follows, sure, strict=True):
            if has:
                found.append(KNOWN_ENTAILED if entailed else KNOWN_BY_RULE if derived else KNOWN)
            elif not derived:
                found.append(PREDICTED)
            else:
                found.append(ENTAILED if entailed else self._by_rules(tuple(row.tolist())))
        return found

    def _by_rules(self, row: tuple[int, ...]) -> Standing:
        found = self._kept.get(row)
        if found is None:
            proof = self.prove(name_fact(self.run.graph, row))
            found = self._kept[row] = Standing("rule", None if proof is None else proof.certainty, "rule")
            if len(self._kept) > _MOST_KEPT:
                self._kept.clear()
        return found

    def prove(self, fact: Fact) -> Proof | None:
        """Return a shortest proof: by clauses without exceptions if there is one, else by all."""
        for some in dict.fromkeys((self.certain, self.all)):
            if some is not None:
                with some.lock:
                    proof = some.prover.prove(fact)
                if proof is not None:
                    return proof
        return None
