"""What a clause asks of parameters, so that it holds for every vector: one relation below another, or one class.

b(X, Y) ⇒ h(X, Y) asks for M(b) ≤ M(h), and b(X, Y) ⇒ h(Y, X) for M(b) ≤ M(h)ᵀ, in every entry (``model/orders.py``).
r(X, a) ⇒ r(X, b) holds for all X ≥ 0 where M(r) ≥ 0 and a ≤ b, in every component.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clausal.adversary.clauses import ClauseGroup
from clausal.logic.shape import AtomShape, Shape, Skeleton
from clausal.logic.syntax import And, Iff, Implies, Or

SHAPE = "only one atom can imply another one, or be equivalent to it"
VARIABLES = "both atoms must have the same two variables"
CONSTANTS = (
    "constants can be hard as r(X, a) => r(X, b) alone, with one relation and the variable in one place of both atoms"
)


@dataclass(frozen=True)
class Below:
    """M(body) ≤ M(head), or M(head)ᵀ where the head is ``turned``; both are rows of the relation table."""

    body: int
    head: int
    turned: bool


@dataclass(frozen=True)
class ClassBelow:
    """The vector of entity ``body`` ≤ that of ``head``, and M(relation) ≥ 0; they stand in place ``argument``."""

    relation: int
    body: int
    head: int
    argument: int


Demand = Below | ClassBelow


def demands_of(readings: Sequence[ClauseGroup], place: int) -> list[Demand] | str:
    """Return what the clause at a place of a group asks for in all its readings, or why it cannot be hard."""
    found: list[Demand] = []
    for group in readings:
        pairs = _pairs(group.shape)
        if pairs is None:
            return SHAPE
        for body, head in pairs:
            demand = _demand(group, place, body, head)
            if isinstance(demand, str):
                return demand
            found.append(demand)
    return found


def _demand(group: ClauseGroup, place: int, body: AtomShape, head: AtomShape) -> Demand | str:
    below, above = (int(group.relations[place, atom.index]) for atom in (body, head))
    kinds = [slot.kind for slot in body.slots]
    if kinds == ["variable", "variable"]:
        if body.subject == body.object or head.slots not in (body.slots, body.slots[::-1]):
            return VARIABLES
        return Below(below, above, head.slots != body.slots)
    if "variable" not in kinds:
        return CONSTANTS
    argument = kinds.index("constant")
    variable = 1 - argument
    same = below == above and head.slots[variable] == body.slots[variable] and head.slots[argument].kind == "constant"
    if not same:
        return CONSTANTS
    lower, upper = (int(group.constants[place, atom.slots[argument].index]) for atom in (body, head))
    return ClassBelow(below, lower, upper, argument)


def _pairs(shape: Shape) -> list[tuple[AtomShape, AtomShape]] | None:
    """Return all (b, h) with b ⇒ h that a formula says of single atoms, or None where it says more."""
    match shape.formula:
        case Implies(body, head):
            bodies, heads = list(_parts(body, Or)), list(_parts(head, And))
        case Iff(AtomShape() as left, AtomShape() as right):
            return [(left, right), (right, left)]
        case _:
            return None
    if not all(isinstance(part, AtomShape) for part in (*bodies, *heads)):
        return None
    return [(b, h) for b in bodies for h in heads if isinstance(b, AtomShape) and isinstance(h, AtomShape)]


def _parts(formula: Skeleton, kind: type[And[AtomShape]] | type[Or[AtomShape]]) -> Iterator[Skeleton]:
    if isinstance(formula, kind):
        for part in formula.formulas:
            yield from _parts(part, kind)
    else:
        yield formula
