"""Violations as linear forms in the scores: [maxₖ minⱼ (Cₖⱼ · scores + oₖⱼ)]₊, the shape that bounds are made for.

b₁ ∧ b₂ ⇒ h has the two forms φ(b₁) − φ(h) and φ(b₂) − φ(h), the smaller of which is the violation. A disjunction in
the body or a conjunction in the head gives several alternatives k, of which the worst counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, reduce
from itertools import product

import torch

from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.semantics import Godel, Semantics, Sum, Threshold
from clausal.bounds.blocks import LinearForms
from clausal.logic.normal_forms import negation_normal, simplified
from clausal.logic.shape import AtomShape, Skeleton
from clausal.logic.syntax import And, Falsum, Iff, Implies, Not, Or, leaves

LINEAR: tuple[type[Semantics], ...] = (Godel, Sum, Threshold)
"""The semantics whose violations are made of linear forms."""
_MOST_FORMS = 48
"""Formulas that need more forms, in one alternative or in number of alternatives, have no bound."""


_Form = tuple[float, ...]
"""The coefficient of each atom, then the offset."""
_Value = frozenset[frozenset[_Form]]
"""max over the outer set of the min over the inner."""


class _TooManyFormsError(Exception):
    """The distribution of max over min has grown beyond use."""


def forms_of(group: ClauseGroup, semantics: Semantics) -> tuple[LinearForms, ...] | None:
    """Return the alternatives of a reading's violation, in the scores of the columns of its relations."""
    alternatives = violation_forms(group.shape.formula, semantics)
    return None if alternatives is None else tuple(map(group.over_rows, alternatives))


@cache
def violation_forms(formula: Skeleton, semantics: Semantics) -> tuple[LinearForms, ...] | None:
    """Return the alternatives of a formula's violation in double precision; none if it can never be violated.

    None where the violation is not made of linear forms (semantics on truth values), or of too many.
    """
    if type(semantics) not in LINEAR:
        return None
    atoms = 1 + max((atom.index for atom in leaves(formula)), default=0)
    formula = simplified(formula)
    if formula == Not(Falsum()):
        return ()
    try:
        value = _Compiler(semantics, atoms).violation(formula)
    except _TooManyFormsError:
        return None
    return tuple(_linear_forms(alternative) for alternative in sorted(map(sorted, value)))


def _linear_forms(forms: Iterable[_Form]) -> LinearForms:
    table = torch.tensor(list(forms), dtype=torch.float64)
    return LinearForms(table[:, :-1], table[:, -1])


@dataclass(frozen=True)
class _Compiler:
    """Works a semantics' connectives out on forms instead of numbers."""

    semantics: Semantics
    atoms: int

    @property
    def _thresholds(self) -> tuple[float, float]:
        return (self.semantics.body, self.semantics.head) if isinstance(self.semantics, Threshold) else (0.0, 0.0)

    def violation(self, formula: Skeleton) -> _Value:
        match formula:
            case _ if isinstance(self.semantics, Threshold):
                return self._value(negation_normal(Not(formula)))
            case Implies(body, head):
                return self._excess(body, head)
            case Iff(left, right):
                return _maximum([self._excess(left, right), self._excess(right, left)])
            case other:
                return _negated(self._value(other))

    def _excess(self, body: Skeleton, head: Skeleton) -> _Value:
        return _sum(self._value(body), _negated(self._value(head)))

    def _value(self, formula: Skeleton) -> _Value:
        match formula:
            case AtomShape(index):
                return self._literal(index, 1.0, -self._thresholds[0])
            case Not(AtomShape(index)):
                return self._literal(index, -1.0, self._thresholds[1])
            case And(parts):
                values = [self._value(part) for part in parts]
                return reduce(_sum, values) if isinstance(self.semantics, Sum) else _minimum(values)
            case Or(parts):
                return _maximum([self._value(part) for part in parts])
            case Not(part):
                return _negated(self._value(part))
            case Implies(body, head):
                return _maximum([_negated(self._value(body)), self._value(head)])
            case Iff(left, right):
                return self._value(And((Implies(left, right), Implies(right, left))))
            case Falsum():
                raise AssertionError("simplified formulas have no ⊥ inside")

    def _literal(self, index: int, coefficient: float, offset: float) -> _Value:
        return frozenset([frozenset([(*(coefficient * (i == index) for i in range(self.atoms)), offset)])])


def _maximum(values: Iterable[_Value]) -> _Value:
    return _pruned(frozenset().union(*values))


def _minimum(values: Iterable[_Value]) -> _Value:
    """min over values distributes over each one's max: every choice of alternatives, one of each."""
    return reduce(lambda one, other: _pruned(frozenset(a | b for a, b in product(one, other))), values)


def _sum(one: _Value, other: _Value) -> _Value:
    return _pruned(frozenset(frozenset(_add(f, g) for f, g in product(a, b)) for a, b in product(one, other)))


def _negated(value: _Value) -> _Value:
    """−max min f = min max −f, distributed."""
    return _minimum(frozenset(frozenset([tuple(-c for c in form)]) for form in forms) for forms in value)


def _add(one: _Form, other: _Form) -> _Form:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _pruned(value: _Value) -> _Value:
    """Drop alternatives that are never the largest, as they hold all forms of another."""
    kept = frozenset(forms for forms in value if not any(other < forms for other in value))
    if len(kept) > _MOST_FORMS or max(map(len, kept)) > _MOST_FORMS:
        raise _TooManyFormsError
    return kept
