"""Clauses that name what a graph does not have: which fit a graph, and which names a closure can add to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clausal.logic.shape import horn_parts
from clausal.logic.syntax import Atom, Clause, Constant, Variable

if TYPE_CHECKING:
    from clausal.graph import Graph, Names


@dataclass(frozen=True)
class Fit:
    """The clauses whose names a graph has, those that were left out, and the unknown names of the latter."""

    clauses: list[Clause]
    left_out: list[Clause]
    relations: list[str]
    constants: list[str]


def fit_clauses(clauses: Iterable[Clause], entities: Names, relations: Names) -> Fit:
    """Part clauses into those that a graph has all names of, and the others."""
    known: list[Clause] = []
    left_out: list[Clause] = []
    unknown: dict[str, None] = {}
    constants: dict[str, None] = {}
    for clause in clauses:
        own = _unknown(clause.atoms, entities, relations)
        unknown |= dict.fromkeys(own[0])
        constants |= dict.fromkeys(own[1])
        (left_out if any(own) else known).append(clause)
    return Fit(known, left_out, list(unknown), list(constants))


def widened(graph: Graph, clauses: Sequence[Clause]) -> Graph:
    """Return the graph with the relations and entities that its facts and these clauses can derive; ids stay.

    The head of a Horn clause adds its names where those of its body are known, by the graph or by another clause.
    """
    from clausal.graph import Names

    relations, entities = dict.fromkeys(graph.relations), dict.fromkeys(graph.entities)
    rules = [parts for clause in clauses if (parts := horn_parts(clause))]
    waiting = [(body, head) for body, head in rules if isinstance(head, Atom)]
    waiting = [(body, head) for body, head in waiting if any(_unknown([head], entities, relations))]
    while waiting:
        unknown = [any(_unknown(body, entities, relations)) for body, _ in waiting]
        if all(unknown):
            break
        for (_, head), out in zip(waiting, unknown, strict=True):
            if out:
                continue
            relations.setdefault(head.relation)
            entities |= dict.fromkeys(term.name for term in head.terms if isinstance(term, Constant))
        waiting = [rule for rule, out in zip(waiting, unknown, strict=True) if out]
    if len(relations) == len(graph.relations) and len(entities) == len(graph.entities):
        return graph
    return replace(graph, entities=Names(list(entities), "entity"), relations=Names(list(relations), "relation"))


def entities_as_variables(clauses: Iterable[Clause], entities: Names) -> dict[str, Clause]:
    """Return the variables that have the name of an entity, each with the first clause that has it."""
    found: dict[str, Clause] = {}
    for clause in clauses:
        for atom in clause.atoms:
            for term in atom.terms:
                if isinstance(term, Variable) and term.name in entities:
                    found.setdefault(term.name, clause)
    return found


def _unknown(
    atoms: Iterable[Atom], entities: Names | dict[str, None], relations: Names | dict[str, None]
) -> tuple[list[str], list[str]]:
    """Return the names of relations and of constants in these atoms that are not known."""
    atoms = list(atoms)
    return (
        [atom.relation for atom in atoms if atom.relation not in relations],
        [
            term.name
            for atom in atoms
            for term in atom.terms
            if isinstance(term, Constant) and term.name not in entities
        ],
    )
