"""Clauses that are given twice: equal but for the names of variables, the order of the body, and the weight."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from clausal.logic.shape import horn_parts, shape_of
from clausal.logic.syntax import Atom, Clause, Constant, Term


def find_duplicates(clauses: Sequence[Clause]) -> list[tuple[Clause, ...]]:
    """Return the groups of equal clauses; their weights may contradict each other."""
    groups: dict[object, list[Clause]] = defaultdict(list)
    for clause in clauses:
        groups[_canonical(clause)].append(clause)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _canonical(clause: Clause) -> object:
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
