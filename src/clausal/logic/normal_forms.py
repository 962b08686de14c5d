"""Equivalent formulas that are easier to score: without ⊥ inside, and in negation normal form.

⊥ has no finite score that all connectives agree on, so it is worked out before scores are. With ¬ at atoms only, each
atom plainly speaks for or against a violation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from clausal.logic.shape import AtomShape, Skeleton
from clausal.logic.syntax import And, Falsum, Iff, Implies, Not, Or

_FALSE: Skeleton = Falsum()
_TRUE: Skeleton = Not(Falsum())


@cache
def simplified(formula: Skeleton) -> Skeleton:
    """Return an equivalent formula without ⊥, or ⊥ or ¬⊥ alone; ``body => false`` becomes ¬body."""
    match formula:
        case Not(part):
            return _negated(simplified(part))
        case And(parts):
            return _joined(And, parts, neutral=_TRUE, absorbing=_FALSE)
        case Or(parts):
            return _joined(Or, parts, neutral=_FALSE, absorbing=_TRUE)
        case Implies(body, head):
            return _implication(simplified(body), simplified(head))
        case Iff(left, right):
            return _equivalence(simplified(left), simplified(right))
        case _:
            return formula


def _negated(formula: Skeleton) -> Skeleton:
    return _FALSE if formula == _TRUE else Not(formula)


def _joined(
    connective: type[And[AtomShape]] | type[Or[AtomShape]],
    parts: Sequence[Skeleton],
    *,
    neutral: Skeleton,
    absorbing: Skeleton,
) -> Skeleton:
    kept = tuple(part for part in map(simplified, parts) if part != neutral)
    if absorbing in kept:
        return absorbing
    if len(kept) > 1:
        return connective(kept)
    return kept[0] if kept else neutral


def _implication(body: Skeleton, head: Skeleton) -> Skeleton:
    if body == _FALSE or head == _TRUE:
        return _TRUE
    if body == _TRUE:
        return head
    return Not(body) if head == _FALSE else Implies(body, head)


def _equivalence(left: Skeleton, right: Skeleton) -> Skeleton:
    for one, other in ((left, right), (right, left)):
        if one == _TRUE:
            return other
        if one == _FALSE:
            return _negated(other)
    return Iff(left, right)


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
