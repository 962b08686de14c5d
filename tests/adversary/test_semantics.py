"""Semantics agree with truth tables where atoms are plainly true or false, and with values worked by hand."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from clausal.adversary import SEMANTICS
from clausal.adversary.semantics import Godel, Sum, Threshold
from clausal.logic import And, Atom, Falsum, Iff, Implies, Not, Or, parse_clause, shape_of
from clausal.logic.syntax import leaves
from random_models import godel_violation

FORMULAS = [
    "p(X,Y) => q(X,Y)",
    "p(X,Y), q(X,Y) => r(X,Y)",
    "p(X,Y) | q(X,Y) => r(X,Y)",
    "p(X,Y) => q(X,Y) | r(X,Y)",
    "p(X,Y) => q(X,Y), r(X,Y)",
    "p(X,Y), q(X,Y) => false",
    "p(X,Y) <=> q(X,Y)",
    "p(X,Y) <=> ~q(X,Y) | r(X,Y)",
    "p(X,Y)",
    "~p(X,Y)",
    "p(X,Y) | q(X,Y)",
    "p(X,Y) & ~(q(X,Y) => r(X,Y))",
    "(p(X,Y) <=> q(X,Y)) | r(X,Y)",
    "~(p(X,Y) <=> q(X,Y)) => r(X,Y)",
    "(p(X,Y) => q(X,Y)) => r(X,Y)",
]
WITH_FALSE = [
    "p(X,Y) <=> false",
    "false <=> ~p(X,Y)",
    "p(X,Y) => q(X,Y) & false",
    "~false => p(X,Y)",
    "false => p(X,Y)",
    "p(X,Y) => q(X,Y) | false",
    "p(X,Y), ~false => q(X,Y)",
    "p(X,Y) => ~false",
    "~(p(X,Y) => false) => q(X,Y)",
    "(p(X,Y) | false) & (q(X,Y) <=> ~false)",
]


def truth(tree, values):
    """Classical truth; ``values`` are the truth values of the atoms from left to right."""
    remaining = iter(values)

    def hold(part):
        match part:
            case Atom():
                return next(remaining)
            case Falsum():
                return False
            case Not(inner):
                return not hold(inner)
            case And(parts):
                holds = [hold(inner) for inner in parts]  # each takes its atoms, so none is skipped
                return all(holds)
            case Or(parts):
                holds = [hold(inner) for inner in parts]
                return any(holds)
            case Implies(body, head):
                holds = [hold(body), hold(head)]
                return not holds[0] or holds[1]
            case Iff(left, right):
                return hold(left) == hold(right)

    return hold(tree)


def assignments(text):
    clause = parse_clause(text)
    skeleton = shape_of(clause)[0].formula
    for values in itertools.product([False, True], repeat=len(clause.atoms)):
        yield clause.formula, skeleton, values


@pytest.mark.parametrize("text", FORMULAS + WITH_FALSE)
@pytest.mark.parametrize("name", ["product", "lukasiewicz"])
def test_truth_values_0_and_1_follow_the_truth_table(name, text):
    for formula, skeleton, values in assignments(text):
        scores = torch.tensor([100.0 if value else -100.0 for value in values])  # sigmoid is 1 or 0
        violation = SEMANTICS[name]().violation(skeleton, scores).item()
        assert violation == pytest.approx(0.0 if truth(formula, values) else 1.0, abs=1e-6)


@pytest.mark.parametrize("text", FORMULAS + WITH_FALSE)
def test_godel_violates_exactly_the_false_formulas_at_equally_sure_scores(text):
    for formula, skeleton, values in assignments(text):
        scores = torch.tensor([3.0 if value else -3.0 for value in values])
        violation = SEMANTICS["godel"]().violation(skeleton, scores).item()
        assert math.isfinite(violation)
        assert (violation > 0) == (not truth(formula, values))


@pytest.mark.parametrize("text", FORMULAS)
def test_godel_equals_its_definition_in_plain_python(text):
    clause = parse_clause(text)
    skeleton = shape_of(clause)[0].formula
    scores = torch.randn(50, len(clause.atoms), generator=torch.Generator().manual_seed(0))
    violations = SEMANTICS["godel"]().violation(skeleton, scores)
    for row, violation in zip(scores.tolist(), violations.tolist(), strict=True):
        remaining = {id(atom): score for atom, score in zip(leaves(clause.formula), row, strict=True)}
        expected = godel_violation(clause.formula, lambda atom, known=remaining: known[id(atom)])
        assert violation == pytest.approx(expected, abs=1e-6)


def logit(value):
    return math.log(value / (1 - value))


@pytest.mark.parametrize(
    ("name", "text", "values", "expected"),
    [
        # p => q is violated by [p − q]₊ on scores, p(1 − q) and [p − q]₊ on truth values
        ("godel", "p(X,Y) => q(X,Y)", [2.0, 0.5], 1.5),
        ("godel", "p(X,Y) => q(X,Y)", [0.5, 2.0], 0.0),
        ("product", "p(X,Y) => q(X,Y)", [0.8, 0.3], 0.56),
        ("lukasiewicz", "p(X,Y) => q(X,Y)", [0.8, 0.3], 0.5),
        ("lukasiewicz", "p(X,Y) => q(X,Y)", [0.3, 0.8], 0.0),
        ("godel", "p(X,Y), q(Y,Z) => r(X,Z)", [2.0, 1.5, -1.0], 2.5),
        ("product", "p(X,Y), q(Y,Z) => r(X,Z)", [0.8, 0.5, 0.2], 0.32),
        ("lukasiewicz", "p(X,Y), q(Y,Z) => r(X,Z)", [0.8, 0.5, 0.2], 0.1),
        ("godel", "p(X,Y) => q(X,Y) | r(X,Y)", [3.0, 1.0, 2.0], 1.0),
        ("product", "p(X,Y) => q(X,Y) | r(X,Y)", [0.8, 0.5, 0.4], 0.24),
        ("lukasiewicz", "p(X,Y) => q(X,Y) | r(X,Y)", [0.8, 0.3, 0.4], 0.1),
        ("godel", "p(X,Y), q(X,Y) => false", [2.0, 0.5], 0.5),
        ("godel", "p(X,Y), q(X,Y) => false", [2.0, -0.5], 0.0),
        ("product", "p(X,Y), q(X,Y) => false", [0.8, 0.5], 0.4),
        ("lukasiewicz", "p(X,Y), q(X,Y) => false", [0.8, 0.5], 0.3),
        ("godel", "p(X,Y) <=> q(X,Y)", [-1.0, 1.5], 2.5),
        ("product", "p(X,Y) <=> q(X,Y)", [0.8, 0.3], 0.56),
        ("lukasiewicz", "p(X,Y) <=> q(X,Y)", [0.3, 0.8], 0.5),
        ("godel", "p(X,Y) | q(X,Y)", [-0.5, -2.0], 0.5),
        ("godel", "~p(X,Y)", [0.7], 0.7),
        ("product", "~p(X,Y)", [0.7], 0.7),
        ("godel", "p(X,Y) <=> false", [0.7], 0.7),
        ("godel", "~false => p(X,Y)", [-0.7], 0.7),
        ("godel", "p(X,Y) => q(X,Y) & false", [0.7, 5.0], 0.7),
    ],
)
def test_values_worked_by_hand(name, text, values, expected):
    scores = torch.tensor(values if name == "godel" else [logit(value) for value in values])
    violation = SEMANTICS[name]().violation(shape_of(parse_clause(text))[0].formula, scores)
    assert violation.item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("semantics", "text", "scores", "expected"),
    [
        (Sum(), "p(X,Y), q(Y,Z) => r(X,Z)", [2.0, 1.5, -1.0], 4.5),
        (Sum(), "p(X,Y) => q(X,Y)", [2.0, 0.5], 1.5),
        (Sum(), "p(X,Y) => q(X,Y) | r(X,Y)", [3.0, 1.0, 2.0], 1.0),
        # a body of at least 1 asks for a head of at least 0.5
        (Threshold(1.0, 0.5), "p(X,Y), q(Y,Z) => r(X,Z)", [3.0, 1.5, -1.0], 0.5),
        (Threshold(1.0, 0.5), "p(X,Y), q(Y,Z) => r(X,Z)", [3.0, 3.5, -1.0], 1.5),
        (Threshold(1.0, 0.5), "p(X,Y), q(Y,Z) => r(X,Z)", [3.0, 0.9, -1.0], 0.0),
        (Threshold(1.0, 0.5), "p(X,Y), q(Y,Z) => r(X,Z)", [3.0, 3.0, 0.6], 0.0),
        (Threshold(1.0, 0.5), "p(X,Y) => ~q(X,Y)", [3.0, 1.25], 0.25),
        (Threshold(1.0, 0.5), "p(X,Y), q(X,Y) => false", [3.0, 1.25], 0.25),
        (Threshold(1.0, 0.5), "p(X,Y)", [0.25], 0.25),
        (Threshold(1.0, 0.5), "p(X,Y) <=> q(X,Y)", [0.25, 3.0], 0.25),
    ],
)
def test_sums_and_thresholds_worked_by_hand(semantics, text, scores, expected):
    violation = semantics.violation(shape_of(parse_clause(text))[0].formula, torch.tensor(scores))
    assert violation.item() == pytest.approx(expected, abs=1e-6)


def test_semantics_are_equal_by_their_thresholds():
    assert Threshold(1.0, 0.5) == Threshold(1.0, 0.5) != Threshold(1.0, 0.0)
    assert len({Godel(), Godel(), Sum(), Threshold(), Threshold(1.0, 0.5)}) == 4


@pytest.mark.parametrize("name", SEMANTICS)
@pytest.mark.parametrize("text", FORMULAS + WITH_FALSE)
def test_violations_are_never_negative_and_always_differentiable(name, text):
    skeleton = shape_of(parse_clause(text))[0].formula
    atoms = len(parse_clause(text).atoms)
    scores = torch.randn(40, atoms, generator=torch.Generator().manual_seed(1)).requires_grad_()
    violations = SEMANTICS[name]().violation(skeleton, scores)
    assert violations.shape == (40,)
    assert (violations >= -1e-6).all()
    (gradient,) = torch.autograd.grad(violations.sum(), scores)
    assert gradient.isfinite().all()
