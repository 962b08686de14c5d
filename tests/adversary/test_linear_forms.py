"""Violations written as linear forms equal the violations that the semantics compute, for every shape of formula."""

from __future__ import annotations

import pytest
import torch
from test_semantics import FORMULAS, WITH_FALSE

from clausal.adversary.forms import LINEAR, violation_forms
from clausal.adversary.semantics import SEMANTICS, Godel, Sum, Threshold
from clausal.logic import parse_clause, shape_of

SHAPES = [*FORMULAS, *WITH_FALSE, "p(X,Y), q(Y,Z), r(Z,U) => s(X,U)", "p(X,Y) | q(X,Y) => r(X,Y) & s(X,Y) | ~t(X,Y)"]


def skeleton(text):
    return shape_of(parse_clause(text))[0].formula


@pytest.mark.parametrize("semantics", [Godel(), Sum(), Threshold(0.7, -0.2)], ids=lambda one: one.name)
@pytest.mark.parametrize("text", SHAPES)
def test_the_largest_alternative_is_the_violation(text, semantics):
    formula = skeleton(text)
    atoms = len(parse_clause(text).atoms)
    scores = torch.randn(200, atoms, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    values = [forms(scores) for forms in violation_forms(formula, semantics)]
    expected = semantics.violation(formula, scores)
    torch.testing.assert_close(torch.stack([torch.zeros(200).double(), *values]).amax(0), expected, rtol=0, atol=1e-12)


def test_a_body_of_two_atoms_has_two_forms_under_godel_one_under_sum_three_under_threshold():
    counts = [
        [len(forms.offsets) for forms in violation_forms(skeleton("p(X,Y), q(Y,Z) => r(X,Z)"), semantics)]
        for semantics in (Godel(), Sum(), Threshold(1.0, 0.5))
    ]
    assert counts == [[2], [1], [3]]


def test_a_formula_that_always_holds_has_no_forms():
    assert violation_forms(skeleton("false => p(X,Y)"), Godel()) == ()


def test_semantics_on_truth_values_have_no_forms():
    others = [kind() for kind in SEMANTICS.values() if kind not in LINEAR]
    assert {one.name for one in others} == {"product", "lukasiewicz"}
    assert all(violation_forms(skeleton("p(X,Y) => q(X,Y)"), one) is None for one in others)


def test_formulas_of_too_many_forms_have_none():
    body = " & ".join(f"(p(X,Y) | q(X{i},Y) | r(X{i},X))" for i in range(6))
    assert violation_forms(skeleton(f"{body} => s(X,Y)"), Godel()) is None
