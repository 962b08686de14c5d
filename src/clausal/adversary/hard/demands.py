"""What a clause asks of parameters, so that it holds for every vector without negative numbers.

b₁ ∧ … ∧ bₙ ⇒ h₁ ∨ … ∨ hₘ over the same two variables holds where the mean of the M(b) ≤ the mean of the M(h) in every
entry (``model/orders.py``): the least of the bodies is at most their mean, and the largest head at least theirs. An
atom with its arguments turned round has M(r)ᵀ, and r(X, X) the symmetric part of M(r). No heads, as in ``body =>
false``, and no bodies count as 0. r(X, a) ∧ r(X, b) ⇒ r(X, c) holds where M(r) ≥ 0 and (a + b) / 2 ≤ c, in every
component.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from clausal.adversary.clauses import ClauseGroup
from clausal.logic.normal_forms import simplified
from clausal.logic.shape import AtomShape, Skeleton, Slot
from clausal.logic.syntax import And, Iff, Implies, Not, Or

SHAPE = "atoms alone can be hard: some of them => others of them, or => false"
VARIABLES = (
    "its atoms have different variables, so that vectors obey it for all entities only where its body is never true; "
    "clausal predict --consistent makes answers obey it"
)
CONSTANTS = (
    "constants can be hard as r(X, a), r(X, b) => r(X, c) alone, with one relation, one head, and the variable in one "
    "place of all atoms"
)
Way = Literal["straight", "turned", "both"]


@dataclass(frozen=True)
class Matrix:
    """M(r) of a row of the relation table, read ``straight`` or ``turned``, as M(r)ᵀ, or ``both``, as their mean."""

    relation: int
    way: Way


@dataclass(frozen=True)
class Below:
    """The mean of ``bodies`` ≤ the mean of ``heads`` in every entry; the mean of none is 0."""

    bodies: tuple[Matrix, ...]
    heads: tuple[Matrix, ...]

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """All that it speaks of."""
        return self.bodies + self.heads

    @property
    def plain(self) -> bool:
        """Whether one atom implies another one, over two variables."""
        return len(self.bodies) == len(self.heads) == 1 and self.bodies[0].way != "both"


@dataclass(frozen=True)
class ClassesBelow:
    """The mean of the vectors of entities ``bodies`` ≤ that of ``head``, and M(relation) ≥ 0; they stand in place
    ``argument`` of their atoms."""

    relation: int
    bodies: tuple[int, ...]
    head: int
    argument: int


Demand = Below | ClassesBelow
Atoms = tuple[AtomShape, ...]


def demands_of(readings: Sequence[ClauseGroup], place: int) -> list[Demand] | str:
    """Return what the clause at a place of a group asks for in all its readings, or why it cannot be hard."""
    found: list[Demand] = []
    for group in readings:
        rules = _rules(group.shape.formula)
        if rules is None:
            return SHAPE
        for bodies, heads in rules:
            if _says_nothing(group, place, bodies, heads):
                continue
            demand = _demand(group, place, bodies, heads)
            if isinstance(demand, str):
                return demand
            found.append(demand)
    return found


def _says_nothing(group: ClauseGroup, place: int, bodies: Atoms, heads: Atoms) -> bool:
    """Tell whether an atom of the body is one of the head."""

    def named(atoms: Atoms) -> set[tuple[int, tuple[Slot, Slot]]]:
        return {(int(group.relations[place, atom.index]), atom.slots) for atom in atoms}

    return bool(named(bodies) & named(heads))


def _demand(group: ClauseGroup, place: int, bodies: Atoms, heads: Atoms) -> Demand | str:
    atoms = heads + bodies
    if any(slot.kind == "constant" for atom in atoms for slot in atom.slots):
        return _of_classes(group, place, bodies, heads)
    first = atoms[0].slots
    if any(atom.slots not in (first, first[::-1]) for atom in atoms):
        return VARIABLES

    def matrix(atom: AtomShape) -> Matrix:
        way: Way = "both" if first[0] == first[1] else "straight" if atom.slots == first else "turned"
        return Matrix(int(group.relations[place, atom.index]), way)

    return Below(tuple(map(matrix, bodies)), tuple(map(matrix, heads)))


def _of_classes(group: ClauseGroup, place: int, bodies: Atoms, heads: Atoms) -> ClassesBelow | str:
    if len(heads) != 1 or not bodies:
        return CONSTANTS
    kinds = [slot.kind for slot in heads[0].slots]
    if sorted(kinds) != ["constant", "variable"]:
        return CONSTANTS
    argument = kinds.index("constant")
    relation, variable = int(group.relations[place, heads[0].index]), heads[0].slots[1 - argument]
    for atom in bodies:
        same = int(group.relations[place, atom.index]) == relation and atom.slots[1 - argument] == variable
        if not same or atom.slots[argument].kind != "constant":
            return CONSTANTS
    *lower, upper = (int(group.constants[place, atom.slots[argument].index]) for atom in bodies + heads)
    return ClassesBelow(relation, tuple(lower), upper, argument)


def _rules(formula: Skeleton) -> list[tuple[Atoms, Atoms]] | None:
    """Return all conjunctions ⇒ disjunctions that a formula is made of, or None where it says more."""
    match simplified(formula):
        case Implies(body, head):
            return _crossed(body, head)
        case Iff(left, right):
            there, back = _crossed(left, right), _crossed(right, left)
            return None if there is None or back is None else there + back
        case Not(body):
            bodies = _all_atoms(body, Or, And)
            return None if bodies is None else [(atoms, ()) for atoms in bodies]
        case head:
            heads = _all_atoms(head, And, Or)
            return None if heads is None else [((), atoms) for atoms in heads]


def _crossed(body: Skeleton, head: Skeleton) -> list[tuple[Atoms, Atoms]] | None:
    """A disjunction of conjunctions implies a conjunction of disjunctions: each of the one each of the other."""
    bodies, heads = _all_atoms(body, Or, And), _all_atoms(head, And, Or)
    return None if bodies is None or heads is None else [(b, h) for b in bodies for h in heads]


Connective = type[And[AtomShape]] | type[Or[AtomShape]]


def _all_atoms(formula: Skeleton, outer: Connective, inner: Connective) -> list[Atoms] | None:
    found = []
    for part in _parts(formula, outer):
        atoms = tuple(atom for atom in _parts(part, inner) if isinstance(atom, AtomShape))
        if len(atoms) < len(list(_parts(part, inner))):
            return None
        found.append(atoms)
    return found


def _parts(formula: Skeleton, kind: Connective) -> Iterator[Skeleton]:
    if isinstance(formula, kind):
        for part in formula.formulas:
            yield from _parts(part, kind)
    else:
        yield formula
