"""Reasons: the Horn clause and the train facts from which a fact follows in one step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from numpy.typing import NDArray

from clausal.graph import Graph
from clausal.logic import Atom, Clause, Term, Variable, horn_parts

Binding = Mapping[Term, str]
Triple = tuple[str, str, str]


class Reason(NamedTuple):
    """A clause and the facts that make its body true."""

    clause: str
    because: str


class Reasons:
    """Finds one-step deductions from the train facts of a graph."""

    def __init__(self, graph: Graph, clauses: Sequence[Clause]) -> None:
        self.graph = graph
        self.clauses = clauses
        self.by_relation: dict[str, list[Triple]] = {}
        for subject, relation, object in graph.train.tolist():
            triple = (graph.entities[subject], graph.relations[relation], graph.entities[object])
            self.by_relation.setdefault(triple[1], []).append(triple)

    def name(self, fact: NDArray) -> str:  # type: ignore[type-arg]
        """Write a fact in names."""
        subject, relation, object = fact
        return _write((self.graph.entities[subject], self.graph.relations[relation], self.graph.entities[object]))

    def of(self, fact: NDArray) -> Reason | None:  # type: ignore[type-arg]
        """Return a reason for a fact given by ids, the shortest clause first, or None."""
        subject, relation, object = fact
        goal = (self.graph.entities[subject], self.graph.relations[relation], self.graph.entities[object])
        for clause in sorted(self.clauses, key=lambda clause: len(clause.atoms)):
            match horn_parts(clause):
                case body, Atom() as head if head.relation == goal[1]:
                    for facts in self._prove(body, _bind(head, goal, {})):
                        return Reason(str(clause), ", ".join(map(_write, facts)))
        return None

    def _prove(self, body: Sequence[Atom], binding: Binding | None) -> Iterator[list[Triple]]:
        if binding is None:
            return
        if not body:
            yield []
            return
        for triple in self.by_relation.get(body[0].relation, ()):
            for rest in self._prove(body[1:], _bind(body[0], triple, binding)):
                yield [triple, *rest]


def _bind(atom: Atom, triple: Triple, binding: Binding) -> Binding | None:
    """Extend a binding of variables so that the atom becomes the triple; None where that cannot be."""
    extended = dict(binding)
    for term, name in zip(atom.terms, (triple[0], triple[2]), strict=True):
        if not isinstance(term, Variable):
            if term.name != name:
                return None
        elif extended.setdefault(term, name) != name:
            return None
    return extended


def _write(triple: Triple) -> str:
    subject, relation, object = triple
    return f"{relation}({subject}, {object})"
