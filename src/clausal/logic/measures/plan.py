"""A Horn clause as the counting sees it: ids for names, and bodies that several clauses share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from clausal.logic.shape import horn_parts
from clausal.logic.syntax import Atom, Clause, Constant, Term, Variable

if TYPE_CHECKING:
    from clausal.graph import Names

Pattern: TypeAlias = tuple[int, int]
"""An atom's arguments: a variable's number, or -1, -2, … for the first, second, … constant."""


@dataclass(frozen=True, slots=True)
class Body:
    """A conjunction of atoms; the variables below ``counted`` are those of the head, and their values are counted."""

    patterns: tuple[Pattern, ...]
    counted: int
    relations: tuple[int, ...]
    constants: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """An atom over the body's first variables; no relation stands for ``false``."""

    relation: int | None
    pattern: Pattern
    constants: tuple[int, ...]


def plan_clause(clause: Clause, entities: Names, relations: Names) -> tuple[Body, Head] | None:
    """Return body and head by ids, or None for what cannot be counted."""
    parts = horn_parts(clause)
    if parts is None or not _known(clause, entities, relations):
        return None
    body, head = parts
    variables: dict[Term, int] = {}
    if isinstance(head, Atom):
        (pattern,), head_constants = _patterns((head,), variables, entities)
        planned_head = Head(relations.id(head.relation), pattern, head_constants)
        counted = len(variables)
        bound = {term for atom in body for term in atom.terms}
        # Without a body a clause speaks of all entities; of all pairs of them would be too many to list.
        if (body and not variables.keys() <= bound) or (not body and counted == 2):
            return None
    patterns, constants = _patterns(body, variables, entities)
    if not isinstance(head, Atom):
        planned_head, counted = Head(None, (0, 0), ()), len(variables)
    return Body(patterns, counted, tuple(relations.id(atom.relation) for atom in body), constants), planned_head


def _known(clause: Clause, entities: Names, relations: Names) -> bool:
    return all(
        atom.relation in relations
        and all(isinstance(term, Variable) or term.name in entities for term in (atom.subject, atom.object))
        for atom in clause.atoms
    )


def _patterns(
    atoms: tuple[Atom, ...], variables: dict[Term, int], entities: Names
) -> tuple[tuple[Pattern, ...], tuple[int, ...]]:
    """Return the atoms' patterns and constants; variables that are new get the next numbers."""
    constants: list[int] = []

    def slot(term: Term) -> int:
        if isinstance(term, Constant):
            constants.append(entities.id(term.name))
            return -len(constants)
        return variables.setdefault(term, len(variables))

    patterns = tuple((slot(atom.subject), slot(atom.object)) for atom in atoms)
    return patterns, tuple(constants)
