"""Clauses that add nothing: tautologies such as ``p(X, Y) => p(X, Y)``, and clauses that are given twice.

Clauses are the same if they are equal but for the names of variables, the order of the body, and the weight.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from itertools import combinations

from clausal.logic.shape import horn_parts, shape_of
from clausal.logic.syntax import And, Atom, Clause, Constant, Falsum, Formula, Iff, Implies, Not, Or, Term

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

    def slot(term: Term, new: bool) -> tuple[int, str | int]:
        if isinstance(term, Constant):
            return 0, term.name
        return 1, numbers.setdefault(term, len(numbers)) if new else numbers.get(term, len(numbers))

    def key(atom: Atom, new: bool = False) -> tuple[object, ...]:
        return atom.relation, slot(atom.subject, new), slot(atom.object, new)

    first = key(head, new=True) if isinstance(head, Atom) else None
    waiting, ordered = list(dict.fromkeys(body)), []
    while waiting:  # always the least atom under the numbers given so far
        least = min(waiting, key=lambda atom: tuple(map(str, key(atom))))
        waiting.remove(least)
        ordered.append(key(least, new=True))
    return first, tuple(ordered)
