"""Clauses that say nothing: they hold whatever the facts are, as ``p(X, Y) => p(X, Y)`` does."""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import combinations

from clausal.logic.shape import horn_parts
from clausal.logic.syntax import And, Atom, Clause, Falsum, Formula, Iff, Implies, Not, Or

_MOST_ATOMS = 10  # of a clause that is not Horn; each doubles the worlds to try


def find_tautologies(clauses: Iterable[Clause]) -> list[Clause]:
    """Return the clauses that hold whatever the facts are, so that nothing follows from them."""
    return [clause for clause in clauses if _says_nothing(clause)]


def _says_nothing(clause: Clause) -> bool:
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
