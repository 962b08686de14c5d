"""Chain clauses: r(X, Y), s(Y, Z) => t(X, Z), with atoms in any direction, and longer ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from clausal.consistency.falsum import simplified
from clausal.logic.shape import AtomShape, Shape, Skeleton
from clausal.logic.syntax import And, Implies, Not, leaves


@dataclass(frozen=True)
class Chain:
    """A body that leads from one variable to another over the others, and a head on its two ends.

    ``links`` lists for each two neighbours the indices of the atoms between them; an atom with one variable, or
    none, stands in the first link that can take it. ``head`` is None if the body must never hold.
    """

    variables: tuple[int, ...]
    links: tuple[tuple[int, ...], ...]
    head: Skeleton | None


def chain_of(shape: Shape) -> Chain | None:
    """Recognise a clause of three or more variables as a chain."""
    match simplified(shape.formula):
        case Implies(body, head):
            return _chain(body, head, shape.variables)
        case Not(body):
            return _chain(body, None, shape.variables)
        case _:
            return None


def _chain(body: Skeleton, head: Skeleton | None, variables: int) -> Chain | None:
    conjuncts = list(_conjuncts(body))
    atoms = [part for part in conjuncts if isinstance(part, AtomShape)]
    if len(atoms) < len(conjuncts):
        return None
    path = _path([_variables([atom]) for atom in atoms], variables)
    if path is None or (head is not None and not _variables(leaves(head)) <= {path[0], path[-1]}):
        return None
    links: list[tuple[int, ...]] = []
    left = atoms
    for pair in pairwise(path):
        links.append(tuple(atom.index for atom in left if _variables([atom]) <= set(pair)))
        left = [atom for atom in left if atom.index not in links[-1]]
    return Chain(path, tuple(links), head)


def _path(pairs: Iterable[set[int]], variables: int) -> tuple[int, ...] | None:
    """Order the variables so that exactly those next to each other share an atom, if that can be done."""
    edges = {frozenset(pair) for pair in pairs if len(pair) == 2}
    neighbours = {v: sorted(other for edge in edges if v in edge for other in edge - {v}) for v in range(variables)}
    ends = [v for v in range(variables) if len(neighbours[v]) == 1]
    if len(ends) != 2 or len(edges) != variables - 1:
        return None
    path = [ends[0]]
    while onward := [v for v in neighbours[path[-1]] if v not in path]:
        path.append(onward[0])
    return tuple(path) if len(path) == variables else None


def _conjuncts(formula: Skeleton) -> Iterator[Skeleton]:
    if isinstance(formula, And):
        for part in formula.formulas:
            yield from _conjuncts(part)
    else:
        yield formula


def _variables(atoms: Iterable[AtomShape]) -> set[int]:
    return {slot.index for atom in atoms for slot in atom.slots if slot.kind == "variable"}
