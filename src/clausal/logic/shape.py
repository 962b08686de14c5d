"""The shape of a clause: its formula without names, so that clauses of one shape are evaluated together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from clausal.logic.printer import print_formula
from clausal.logic.syntax import (
    And,
    Atom,
    Clause,
    Constant,
    Falsum,
    Formula,
    Implies,
    Term,
    Tree,
    Variable,
    leaves,
    map_leaves,
)

_LETTERS = "XYZUVW"


@dataclass(frozen=True)
class Slot:
    """The place of a variable or of a constant, numbered by first occurrence among its kind."""

    kind: Literal["variable", "constant"]
    index: int


@dataclass(frozen=True)
class AtomShape:
    """An atom without names; ``index`` is its position in the clause, and so that of its relation."""

    index: int
    subject: Slot
    object: Slot

    @property
    def slots(self) -> tuple[Slot, Slot]:
        """Subject and object."""
        return self.subject, self.object


_TWO_VARIABLES = (Slot("variable", 0), Slot("variable", 1))

Skeleton: TypeAlias = Tree[AtomShape]
"""A formula whose leaves are numbered atoms."""


@dataclass(frozen=True)
class Shape:
    """What clauses that differ only in names and weight have in common.

    ``variables`` and ``constants`` count the distinct ones; ``atoms`` are the leaves of
    ``formula`` from left to right.
    """

    formula: Skeleton
    atoms: tuple[AtomShape, ...]
    variables: int
    constants: int

    def __str__(self) -> str:
        return print_formula(map_leaves(self.formula, _named))


def shape_of(clause: Clause) -> tuple[Shape, tuple[str, ...], tuple[str, ...]]:
    """Return a clause's shape, the relation of each atom, and the constants in the order of their slots.

    Two clauses have equal shapes if and only if they differ only in the names of relations, variables and
    constants, and in weight.
    """
    relations: list[str] = []
    variables: dict[Variable, Slot] = {}
    constants: dict[Constant, Slot] = {}

    def slot(term: Term) -> Slot:
        if isinstance(term, Variable):
            return variables.setdefault(term, Slot("variable", len(variables)))
        return constants.setdefault(term, Slot("constant", len(constants)))

    def number(atom: Atom) -> AtomShape:
        relations.append(atom.relation)
        return AtomShape(len(relations) - 1, slot(atom.subject), slot(atom.object))

    skeleton = map_leaves(clause.formula, number)
    shape = Shape(skeleton, tuple(leaves(skeleton)), len(variables), len(constants))
    return shape, tuple(relations), tuple(constant.name for constant in constants)


def print_shape(clause: Clause) -> str:
    """Write a clause's shape for readers: atoms of one relation have one number, as in ``r0(X, Y) => r0(Y, X)``."""
    shape, relations, _ = shape_of(clause)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(relations))}
    return print_formula(map_leaves(shape.formula, lambda atom: _named(atom, numbers[relations[atom.index]])))


def horn_parts(clause: Clause) -> tuple[tuple[Atom, ...], Atom | Falsum] | None:
    """Return body and head of a clause written as a Horn clause, else None.

    That is a conjunction of atoms ⇒ an atom or false; a lone atom has an empty body.
    """
    match clause.formula:
        case Atom() as head:
            return (), head
        case Implies(body, (Atom() | Falsum()) as head) if _is_conjunction_of_atoms(body):
            return tuple(leaves(body)), head
        case _:
            return None


def implication(body: Sequence[Atom], head: Atom | Falsum) -> Formula:
    """Return body ⇒ head, the other way round from ``horn_parts``; an empty body leaves the head alone."""
    if not body:
        return head
    return Implies(body[0] if len(body) == 1 else And(tuple(body)), head)


def is_horn(clause: Clause) -> bool:
    """Tell whether a clause is written as a Horn clause: a conjunction of atoms ⇒ an atom or false."""
    return horn_parts(clause) is not None


def one_atom_rule(shape: Shape) -> Literal["implication", "inverse"] | None:
    """Recognise ``r0(X, Y) => r1(X, Y)`` (implication) and ``r0(X, Y) => r1(Y, X)`` (inverse)."""
    match shape.formula:
        case Implies(AtomShape() as body, AtomShape() as head) if body.slots == _TWO_VARIABLES:
            if head.slots == body.slots:
                return "implication"
            return "inverse" if head.slots == body.slots[::-1] else None
        case _:
            return None


def chain_of(body: Sequence[AtomShape], ends: Sequence[Slot]) -> list[tuple[int, bool]] | None:
    """Return the atoms on the way from one slot to the other, and which are walked backwards.

    None stands for a body that is no chain: atoms beside the way, constants, or an entity that is passed twice.
    """
    if len(ends) != 2 or not body or any(slot.kind == "constant" for atom in body for slot in atom.slots):
        return None
    here, waiting, passed = ends[0], list(body), {ends[0]}
    way = []
    while waiting:
        touching = [atom for atom in waiting if here in atom.slots]
        if len(touching) != 1 or touching[0].subject == touching[0].object:
            return None
        (atom,) = touching
        way.append((atom.index, atom.object == here))
        here = atom.subject if atom.object == here else atom.object
        if here in passed or (here == ends[1] and len(waiting) > 1):
            return None
        passed.add(here)
        waiting.remove(atom)
    return way if here == ends[1] else None


def _is_conjunction_of_atoms(formula: Formula) -> bool:
    if isinstance(formula, And):
        return all(_is_conjunction_of_atoms(part) for part in formula.formulas)
    return isinstance(formula, Atom)


def _named(atom: AtomShape, relation: int | None = None) -> Atom:
    number = atom.index if relation is None else relation
    return Atom(f"r{number}", _term(atom.subject), _term(atom.object))


def _term(slot: Slot) -> Term:
    if slot.kind == "constant":
        return Constant(f"c{slot.index}")
    return Variable(_LETTERS[slot.index] if slot.index < len(_LETTERS) else f"X{slot.index}")
