"""Negation normal form: ¬ at atoms only, so that each atom plainly speaks for or against a violation."""

from __future__ import annotations

from functools import cache

from clausal.logic.shape import Skeleton
from clausal.logic.syntax import And, Iff, Implies, Not, Or


@cache
def negation_normal(formula: Skeleton) -> Skeleton:
    """Return an equivalent formula of ∧, ∨ and atoms, negated or not."""
    match formula:
        case Not(Not(part)):
            return negation_normal(part)
        case Not(And(parts)):
            return Or(tuple(negation_normal(Not(part)) for part in parts))
        case Not(Or(parts)):
            return And(tuple(negation_normal(Not(part)) for part in parts))
        case Not(Implies(body, head)):
            return And((negation_normal(body), negation_normal(Not(head))))
        case Not(Iff(left, right)):
            return negation_normal(Not(_both_ways(left, right)))
        case And(parts):
            return And(tuple(map(negation_normal, parts)))
        case Or(parts):
            return Or(tuple(map(negation_normal, parts)))
        case Implies(body, head):
            return Or((negation_normal(Not(body)), negation_normal(head)))
        case Iff(left, right):
            return negation_normal(_both_ways(left, right))
        case _:
            return formula


def _both_ways(left: Skeleton, right: Skeleton) -> Skeleton:
    forward: Skeleton = Implies(left, right)
    backward: Skeleton = Implies(right, left)
    return And((forward, backward))
