"""Rules that vote, by names: as clauses, and as the facts of train that one instance of them uses."""

from __future__ import annotations

import numpy as np

from clausal.fusion.evidence import Evidence
from clausal.fusion.lists import Ids
from clausal.graph.graph import Graph
from clausal.graph.query import Fact, name_fact
from clausal.logic.mining import SOME, AttributeRules
from clausal.logic.printer import print_clause
from clausal.logic.shape import implication
from clausal.logic.syntax import Atom, Clause, Constant, Term, Variable

_VARIABLES = ("X", "Y", "Z", "W")


def path_clause(graph: Graph, head: int, body: Ids) -> str:
    """Return a path rule as the text of a clause; its body goes from the head's subject to its object."""
    labels = [int(label) for label in body if label >= 0]
    terms = [Variable(name) for name in _VARIABLES[: len(labels) + 1]]
    atoms = [_atom(graph, label, terms[place], terms[place + 1]) for place, label in enumerate(labels)]
    return print_clause(Clause(implication(tuple(atoms), _atom(graph, head, terms[0], terms[-1]))))


def attribute_clause(graph: Graph, rules: AttributeRules, rule: int) -> str:
    """Return a rule with constants as the text of a clause."""
    body, head = int(rules.bodies[rule]), int(rules.heads[rule])

    def atom(attribute: int) -> Atom:
        entity = int(rules.attribute_entity[attribute])
        other: Term = Variable("Y") if entity == SOME else Constant(graph.entities[entity])
        return _atom(graph, int(rules.attribute_label[attribute]), Variable("X"), other)

    return print_clause(Clause(implication((atom(body),), atom(head))))


def path_instance(evidence: Evidence, body: Ids, start: int, end: int) -> list[int] | None:
    """Return the entities of one path from ``start`` to ``end`` along the labels of a body, all different."""
    labels = [int(label) for label in body if label >= 0]

    def extend(path: list[int], left: list[int]) -> list[int] | None:
        if not left:
            return path if path[-1] == end else None
        source, target = evidence.edges.of_label[left[0]]
        for other in target[np.searchsorted(source, path[-1]) : np.searchsorted(source, path[-1] + 1)].tolist():
            if other not in path and (other != end or len(left) == 1):
                found = extend([*path, other], left[1:])
                if found is not None:
                    return found
        return None

    return extend([start], labels)


def edge_fact(graph: Graph, source: int, label: int, target: int) -> Fact:
    """Return the fact behind an edge, by names."""
    relations = len(graph.relations)
    row = (source, label, target) if label < relations else (target, label - relations, source)
    return name_fact(graph, row)


def _atom(graph: Graph, label: int, one: Term, other: Term) -> Atom:
    relations = len(graph.relations)
    name = graph.relations[label % relations]
    return Atom(name, one, other) if label < relations else Atom(name, other, one)
