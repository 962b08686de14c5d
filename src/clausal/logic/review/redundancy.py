"""Clauses that add nothing: tautologies such as ``p(X, Y) => p(X, Y)``, and clauses that are given twice.

Clauses are the same if they are equal but for the names of variables, the order of the body, and the weight.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import TypeAlias

from clausal.logic.shape import horn_parts, shape_of
from clausal.logic.syntax import And, Atom, Clause, Constant, Falsum, Formula, Iff, Implies, Not, Or, Term

_Key: TypeAlias = tuple[str, tuple[int, str | float], tuple[int, str | float]]

_MOST_ATOMS = 10  # of a clause that is not Horn; each doubles the worlds to try


def find_tautologies(clauses: Iterable[Clause]) -> list[Clause]:
    """Return the clauses that hold whatever the facts are, so that nothing follows from them."""
    return [clause for clause in clauses if _is_tautology(clause)]


def _is_tautology(clause: Clause) -> bool:
    parts = horn_parts(clause)
    if parts is not None:
        body, head = parts
        return head in body
    # Distinct atoms can be true or false independently of each other, so their truth table decides.
    atoms = list(dict.fromkeys(clause.atoms))
    if len(atoms) > _MOST_ATOMS:
        return False
    worlds = (set(facts) for size in range(len(atoms) + 1) for facts in combinations(atoms, size))
    return all(_holds(clause.formula, world) for world in worlds)


def _holds(formula: Formula, facts: Set[Atom]) -> bool:
    match formula:
        case Atom():
            return formula in facts
        case Falsum():
            return False
        case Not(part):
            return not _holds(part, facts)
        case And(parts):
            return all(_holds(part, facts) for part in parts)
        case Or(parts):
            return any(_holds(part, facts) for part in parts)
        case Implies(body, head):
            return not _holds(body, facts) or _holds(head, facts)
        case Iff(left, right):
            return _holds(left, facts) == _holds(right, facts)


def find_duplicates(clauses: Sequence[Clause]) -> list[tuple[Clause, ...]]:
    """Return the groups of equal clauses; their weights may contradict each other."""
    groups: dict[object, list[Clause]] = defaultdict(list)
    for clause in clauses:
        groups[_canonical_form(clause)].append(clause)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _canonical_form(clause: Clause) -> object:
    """Return what is equal for clauses that say the same: variables numbered from the head, the body in order."""
    parts = horn_parts(clause)
    if parts is None:
        return shape_of(clause)
    body, head = parts
    numbers: dict[Term, int] = {}

    def slot(term: Term) -> tuple[int, str | float]:
        """Return a constant's name or a variable's number; those without one come last."""
        return (0, term.name) if isinstance(term, Constant) else (1, numbers.get(term, math.inf))

    def key(atom: Atom) -> _Key:
        return atom.relation, slot(atom.subject), slot(atom.object)

    def numbered(atom: Atom) -> _Key:
        for term in atom.terms:
            if not isinstance(term, Constant):
                numbers.setdefault(term, len(numbers))
        return key(atom)

    first = numbered(head) if isinstance(head, Atom) else None
    atoms = list(dict.fromkeys(body))
    places: dict[Term, list[int]] = defaultdict(list)
    for place, atom in enumerate(atoms):
        for term in atom.terms:
            places[term].append(place)
    # Always the least atom under the numbers given so far; a number makes the atoms that have its variable less.
    waiting = [(key(atom), place) for place, atom in enumerate(atoms)]
    heapify(waiting)
    ordered: dict[int, _Key] = {}
    while waiting:
        _, place = heappop(waiting)
        if place in ordered:
            continue
        new = [term for term in atoms[place].terms if not isinstance(term, Constant) and term not in numbers]
        ordered[place] = numbered(atoms[place])
        for other in (other for term in new for other in places[term] if other not in ordered):
            heappush(waiting, (key(atoms[other]), other))
    return first, tuple(ordered.values())
