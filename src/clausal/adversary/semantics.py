"""Semantics: the degree to which a formula is violated, given the scores of its atoms.

Gödel's is the paper's: it works on scores as they are, with min for ∧, max for ∨ and −score for ¬, and an
implication is violated by [φ(body) − φ(head)]₊. Sum and threshold are variants of it that closed forms treat better.
Product and Łukasiewicz work on truth values, sigmoid(score). Pooling makes one violation of those on B sets.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import reduce
from typing import ClassVar

import torch
from torch import Tensor

from clausal.config import ClauseSettings
from clausal.logic.normal_forms import negation_normal, simplified
from clausal.logic.shape import AtomShape, Skeleton
from clausal.logic.syntax import And, Falsum, Iff, Implies, Not, Or


class Semantics(ABC):
    """How connectives combine values, and how far a formula is from holding."""

    name: ClassVar[str]

    @abstractmethod
    def atom(self, score: Tensor) -> Tensor:
        """Turn a score into the value that the connectives combine."""

    @abstractmethod
    def conjunction(self, one: Tensor, other: Tensor) -> Tensor:
        """Return the value of one ∧ other."""

    @abstractmethod
    def disjunction(self, one: Tensor, other: Tensor) -> Tensor:
        """Return the value of one ∨ other."""

    @abstractmethod
    def negation(self, value: Tensor) -> Tensor:
        """Return the value of ¬ formula."""

    @abstractmethod
    def falsum(self, like: Tensor) -> Tensor:
        """Return the value of what never holds."""

    @abstractmethod
    def excess(self, body: Tensor, head: Tensor) -> Tensor:
        """Say by how much body ⇒ head is violated; below 0 where it holds and something is left."""

    @abstractmethod
    def shortfall(self, value: Tensor) -> Tensor:
        """Say by how much a formula that is no implication is violated; below 0 as ``excess``."""

    def violation(self, formula: Skeleton, scores: Tensor) -> Tensor:
        """Say by how much a formula is violated, given the scores of its atoms [..., atoms] → [...]."""
        return torch.relu(self.degree(formula, scores))

    def degree(self, formula: Skeleton, scores: Tensor) -> Tensor:
        """Return the violation before it is cut off at 0: how far from it a formula that holds is."""
        match simplified(formula):
            case Not(Falsum()):
                return 0 * scores[..., 0]
            case Implies(body, head):
                return self.excess(self.value(body, scores), self.value(head, scores))
            case Iff(left, right):
                one, other = self.value(left, scores), self.value(right, scores)
                return torch.maximum(self.excess(one, other), self.excess(other, one))
            case other_formula:
                return self.shortfall(self.value(other_formula, scores))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def value(self, formula: Skeleton, scores: Tensor) -> Tensor:
        """Return the value of a formula, given the scores of its atoms [..., atoms] → [...]."""
        match formula:
            case AtomShape(index):
                return self.atom(scores[..., index])
            case And(parts):
                return reduce(self.conjunction, [self.value(part, scores) for part in parts])
            case Or(parts):
                return reduce(self.disjunction, [self.value(part, scores) for part in parts])
            case Not(part):
                return self.negation(self.value(part, scores))
            case Implies(body, head):
                return self.disjunction(self.negation(self.value(body, scores)), self.value(head, scores))
            case Iff(left, right):
                forward: Skeleton = Implies(left, right)
                backward: Skeleton = Implies(right, left)
                return self.conjunction(self.value(forward, scores), self.value(backward, scores))
            case Falsum():
                return self.falsum(scores[..., 0])


class Godel(Semantics):
    """Min, max and −score on the scores themselves; a score of 0 is neither true nor false."""

    name = "godel"

    def atom(self, score: Tensor) -> Tensor:
        return score

    def conjunction(self, one: Tensor, other: Tensor) -> Tensor:
        return torch.minimum(one, other)

    def disjunction(self, one: Tensor, other: Tensor) -> Tensor:
        return torch.maximum(one, other)

    def negation(self, value: Tensor) -> Tensor:
        return -value

    def falsum(self, like: Tensor) -> Tensor:
        return torch.full_like(like, -torch.inf)

    def excess(self, body: Tensor, head: Tensor) -> Tensor:
        return body - head

    def shortfall(self, value: Tensor) -> Tensor:
        return -value


class Sum(Godel):
    """Gödel's with + for ∧: b₁ ∧ b₂ ⇒ h is violated by [φ(b₁) + φ(b₂) − φ(h)]₊, linear in the scores."""

    name = "sum"

    def conjunction(self, one: Tensor, other: Tensor) -> Tensor:
        return one + other


class Threshold(Godel):
    """A body that scores at least τ asks for a head of at least τ′: b₁ ∧ b₂ ⇒ h is violated by
    [min(φ(b₁) − τ, φ(b₂) − τ, τ′ − φ(h))]₊. Everywhere, an atom holds from τ on and fails below τ′.
    """

    name = "threshold"

    def __init__(self, body: float = 0.0, head: float = 0.0) -> None:
        self.body, self.head = body, head

    def atom(self, score: Tensor) -> Tensor:
        return score - self.body

    def negation(self, value: Tensor) -> Tensor:
        """Return τ′ − score from score − τ; formulas in negation normal form negate nothing but atoms."""
        return self.head - self.body - value

    def degree(self, formula: Skeleton, scores: Tensor) -> Tensor:
        formula = simplified(formula)
        if formula == Not(Falsum()):
            return 0 * scores[..., 0]
        return self.value(negation_normal(Not(formula)), scores)


class _OnTruthValues(Semantics):
    """What product and Łukasiewicz share: atoms are true to the degree sigmoid(score)."""

    def atom(self, score: Tensor) -> Tensor:
        return torch.sigmoid(score)

    def negation(self, value: Tensor) -> Tensor:
        return 1 - value

    def falsum(self, like: Tensor) -> Tensor:
        return torch.zeros_like(like)

    def shortfall(self, value: Tensor) -> Tensor:
        return 1 - value


class Product(_OnTruthValues):
    """a·b, a + b − a·b and 1 − a; body ⇒ head is violated by body·(1 − head)."""

    name = "product"

    def conjunction(self, one: Tensor, other: Tensor) -> Tensor:
        return one * other

    def disjunction(self, one: Tensor, other: Tensor) -> Tensor:
        return one + other - one * other

    def excess(self, body: Tensor, head: Tensor) -> Tensor:
        return body * (1 - head)


class Lukasiewicz(_OnTruthValues):
    """[a + b − 1]₊, min(1, a + b) and 1 − a; body ⇒ head is violated by [body − head]₊."""

    name = "lukasiewicz"

    def conjunction(self, one: Tensor, other: Tensor) -> Tensor:
        return torch.relu(one + other - 1)

    def disjunction(self, one: Tensor, other: Tensor) -> Tensor:
        return (one + other).clamp_max(1)

    def excess(self, body: Tensor, head: Tensor) -> Tensor:
        return body - head


SEMANTICS: dict[str, type[Semantics]] = {kind.name: kind for kind in (Godel, Sum, Threshold, Product, Lukasiewicz)}


def make_semantics(settings: ClauseSettings) -> Semantics:
    """Make the semantics that the settings name."""
    if settings.semantics == "threshold":
        return Threshold(*settings.thresholds)
    return SEMANTICS[settings.semantics]()


Pooling = Callable[[Tensor], Tensor]
"""One violation for each clause from those on its B adversarial sets: [clauses, sets] → [clauses]."""

POOLINGS: dict[str, Pooling] = {
    "sum": lambda violations: violations.sum(1),
    "mean": lambda violations: violations.mean(1),
    "max": lambda violations: violations.amax(1),
    # Less ln B, so that a clause that is violated on no set has 0.
    "logsumexp": lambda violations: torch.logsumexp(violations, 1) - math.log(violations.shape[1]),
}
