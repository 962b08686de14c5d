"""Clauses as a syntax tree: function-free formulas over binary atoms, all variables universal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from clausal.errors import InputError
from clausal.logic.names import is_variable_name

Leaf = TypeVar("Leaf", covariant=True)
OtherLeaf = TypeVar("OtherLeaf")


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, such as ``X``: it stands for any entity."""

    name: str
    column: int | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not is_variable_name(self.name):
            raise InputError(f"{self.name!r} cannot name a variable: use letters, digits and '_', as in 'X1'")


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant: one entity, by its name."""

    name: str
    column: int | None = field(default=None, compare=False, repr=False)


Term = Variable | Constant


@dataclass(frozen=True, slots=True)
class Atom:
    """A relation applied to two terms: ``relation(subject, object)``."""

    relation: str
    subject: Term
    object: Term
    column: int | None = field(default=None, compare=False, repr=False)

    @property
    def terms(self) -> tuple[Term, Term]:
        """Subject and object."""
        return self.subject, self.object


@dataclass(frozen=True, slots=True)
class Not(Generic[Leaf]):
    """Negation."""

    formula: Tree[Leaf]


@dataclass(frozen=True, slots=True)
class And(Generic[Leaf]):
    """Conjunction of two or more formulas."""

    formulas: tuple[Tree[Leaf], ...]

    def __post_init__(self) -> None:
        _at_least_two(self.formulas, "conjunction")


@dataclass(frozen=True, slots=True)
class Or(Generic[Leaf]):
    """Disjunction of two or more formulas."""

    formulas: tuple[Tree[Leaf], ...]

    def __post_init__(self) -> None:
        _at_least_two(self.formulas, "disjunction")


@dataclass(frozen=True, slots=True)
class Implies(Generic[Leaf]):
    """Implication: body ⇒ head."""

    body: Tree[Leaf]
    head: Tree[Leaf]


@dataclass(frozen=True, slots=True)
class Iff(Generic[Leaf]):
    """Equivalence: left ⇔ right."""

    left: Tree[Leaf]
    right: Tree[Leaf]


@dataclass(frozen=True, slots=True)
class Falsum:
    """What never holds: the head of an integrity constraint, ``body => false``."""


Tree: TypeAlias = Falsum | Not[Leaf] | And[Leaf] | Or[Leaf] | Implies[Leaf] | Iff[Leaf] | Leaf
"""A formula over leaves of some kind: atoms in a clause, numbered atoms in its shape."""

Formula: TypeAlias = Tree[Atom]


@dataclass(frozen=True, slots=True)
class Clause:
    """A formula that the link predictor should obey, with its weight and the place it was read from.

    A ``hard`` clause is one that the model must not be able to break, where its scorer and domain allow that.
    ``confidence`` (the part of the body's instances whose head holds) and ``support`` (how many do) are what a miner
    counted; training reads the weight alone, which a reader of rules sets to the confidence.
    """

    formula: Formula
    weight: float = 1.0
    source: str | None = field(default=None, compare=False)
    line: int | None = field(default=None, compare=False)
    confidence: float | None = field(default=None, compare=False)
    support: int | None = field(default=None, compare=False)
    hard: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.weight) and self.weight >= 0):
            raise InputError(f"a clause's weight must be a finite number of at least 0, not {self.weight}")

    def __str__(self) -> str:
        from clausal.logic.printer import print_clause  # the printer needs this module

        return print_clause(self)

    @property
    def certainty(self) -> float:
        """How sure the head is where the body holds: the confidence, else the weight; 1 for a clause without either."""
        return min(1.0, self.weight if self.confidence is None else self.confidence)

    def __repr__(self) -> str:
        return f"<Clause {self}>"

    def _repr_html_(self) -> str:
        from clausal.drawing import notebook
        from clausal.logic.html import clauses_html

        return notebook(clauses_html([self]))

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The atoms from left to right, repeated ones included."""
        return tuple(leaves(self.formula))


def children(tree: Tree[Leaf]) -> tuple[Tree[Leaf], ...]:
    """Return the direct subformulas of ``tree``, from left to right."""
    match tree:
        case And(formulas) | Or(formulas):
            return formulas
        case Implies(left, right) | Iff(left, right):
            return left, right
        case Not(inner):
            return (inner,)
        case _:
            return ()


def leaves(tree: Tree[Leaf]) -> Iterator[Leaf]:
    """Yield the leaves of ``tree`` from left to right, repeated ones included."""
    if not isinstance(tree, (Not, And, Or, Implies, Iff, Falsum)):
        yield tree
    for child in children(tree):
        yield from leaves(child)


def map_leaves(tree: Tree[Leaf], change: Callable[[Leaf], OtherLeaf]) -> Tree[OtherLeaf]:
    """Return the same tree with ``change`` applied to each leaf, from left to right."""
    match tree:
        case And(formulas):
            return And(tuple(map_leaves(formula, change) for formula in formulas))
        case Or(formulas):
            return Or(tuple(map_leaves(formula, change) for formula in formulas))
        case Implies(body, head):
            return Implies(map_leaves(body, change), map_leaves(head, change))
        case Iff(left, right):
            return Iff(map_leaves(left, change), map_leaves(right, change))
        case Not(inner):
            return Not(map_leaves(inner, change))
        case Falsum():
            return tree
        case leaf:
            return change(leaf)


def _at_least_two(formulas: tuple[Any, ...], what: str) -> None:
    if len(formulas) < 2:
        raise InputError(f"a {what} takes two or more formulas, not {len(formulas)}")
