"""Hard clauses of more than two atoms, of r(X, X) and of false: they hold for every vector; others cannot, provably."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

from clausal.adversary import certify, group_clauses
from clausal.adversary.semantics import Godel, Sum, Threshold
from clausal.logic import parse_clause
from clausal.model import SCORERS, Box, Cone, Cube, Sphere
from hard_models import hardened, reciprocal_predictor, worst_found
from random_models import ENTITIES, RELATIONS, random_predictor

CONJUNCTION, TURNED = "p(X, Y), q(X, Y) => r(X, Y)", "p(X, Y), q(Y, X) => s(X, Y)"
DISJUNCTION, REFLEXIVE = "p(X, Y) => r(X, Y) | s(X, Y)", "p(X, X) => q(X, X)"
SEVERAL_REFLEXIVE, ALWAYS = "p(X, X), q(X, X) => r(X, X)", "s(X, X)"
EXCLUSIVE, NEVER = "p(X, Y), q(X, Y) => false", "s(X, Y) => false"
EXCLUSIVE_TURNED, THREE = "p(X, Y), q(Y, X) => false", "p(X, Y), q(X, Y), r(X, Y) => false"
ASYMMETRIC, IRREFLEXIVE = "p(X, Y), p(Y, X) => false", "p(X, X) => false"
BOTH_WAYS = "p(X, Y), p(Y, X) => q(X, Y)"
CLASSES, SUBJECTS = "p(X, e1), p(X, e2) => p(X, e3)", "q(e1, X), q(e2, X), q(e3, X) => q(e4, X)"
TURNING = {TURNED, EXCLUSIVE_TURNED, ASYMMETRIC, BOTH_WAYS}
ALONE = [
    CONJUNCTION, TURNED, DISJUNCTION, REFLEXIVE, SEVERAL_REFLEXIVE, ALWAYS, EXCLUSIVE, EXCLUSIVE_TURNED, NEVER, THREE,
    ASYMMETRIC, IRREFLEXIVE, BOTH_WAYS, CLASSES, SUBJECTS,
]  # fmt: skip
TOGETHER = {
    "heads of each other": ("p(X, Y), q(X, Y) => r(X, Y)", "r(X, Y), q(X, Y) => s(X, Y)", "p(X, Y) => q(X, Y)"),
    "below a constraint": ("p(X, Y) => q(X, Y)", "q(X, Y), r(X, Y) => false", "s(X, Y), p(X, Y) => r(X, Y)"),
    "a circle and a constraint": ("p(X, Y) <=> q(X, Y)", "q(X, Y), r(X, Y) => false", "q(X, X) => s(X, X)"),
    "classes and a constraint": (
        "p(X, e1) => p(X, e2)", "p(X, e2), p(X, e3) => p(X, e4)", "p(X, Y), q(X, Y) => false", "p(X, Y) => r(X, Y)",
        "r(X, Y), q(X, Y) => s(X, Y)",
    ),
    "all that is true of itself": ("p(X, X)", "p(X, X) => q(X, X)", "q(X, Y), r(X, Y) => false"),
}  # fmt: skip


def assert_unbroken(predictor, clauses, starts=60):
    for group in group_clauses(clauses, ENTITIES, RELATIONS):
        (certificate,) = certify(predictor, [group], region="auto")
        assert certificate.proven.all()
        assert (certificate.bound == 0).all()
        assert worst_found(predictor, group, starts=starts, steps=8) <= 1e-12


def refused(scorer, text):
    """Whether a scorer cannot obey a clause but by a relation that is never true, or at all."""
    return (scorer == "cp" and text in TURNING | {IRREFLEXIVE}) or (
        scorer == "distmult" and text in (ASYMMETRIC, IRREFLEXIVE)
    )


@pytest.mark.parametrize("text", ALONE)
@pytest.mark.parametrize("scorer", ["distmult", "complex", "simple", "rescal", "hole", "cp"])
def test_each_shape_holds_for_every_vector(scorer, text):
    for domain in (Cube(), Cone(), Box(0.2, 3.0)):
        predictor = random_predictor(scorer, domain)
        hard = hardened(predictor, text)
        assert bool(hard.refused) == refused(scorer, text)
        assert_unbroken(predictor, hard.clauses)
        assert predictor.domain.contains(predictor.encoder.weight, tolerance=0).all()


@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.parametrize("scorer", ["distmult", "complex", "rescal"])
@pytest.mark.parametrize("reciprocal", [False, True])
def test_shapes_hold_together(scorer, name, reciprocal):
    predictor = (reciprocal_predictor if reciprocal else random_predictor)(scorer, Cube())
    hard = hardened(predictor, *TOGETHER[name])
    assert not hard.refused
    assert_unbroken(predictor, hard.clauses, starts=30)


@pytest.mark.parametrize("other", ["p(X, Y) <=> q(X, Y) & s(X, Y)", "r(X, Y), s(X, Y) => q(X, Y)"])
def test_of_clauses_that_would_make_relations_equal_one_is_enough_to_be_refused(other):
    hard = hardened(random_predictor("distmult", Cube()), CONJUNCTION, other)
    assert [str(clause) for clause in hard.clauses] == [CONJUNCTION]


def test_asymmetry_leaves_complex_its_imaginary_parts():
    predictor = random_predictor("complex", Cube())
    before = predictor.relations.data[0].clone()
    hardened(predictor, ASYMMETRIC)
    (real, imaginary), (_, kept) = predictor.relations.data[0].chunk(2), before.chunk(2)
    assert (real <= 0).all()
    assert torch.equal(imaginary, kept)


def test_exclusive_relations_can_both_be_true_of_something():
    predictor = random_predictor("distmult", Cube(), dim=8)
    hardened(predictor, EXCLUSIVE)
    one, other = predictor.relations.data[:2]
    assert (one > 0).any()
    assert (other > 0).any()
    assert ((one + other) <= 0).all()


@pytest.mark.parametrize("text", [CONJUNCTION, EXCLUSIVE, REFLEXIVE, CLASSES])
def test_a_model_that_is_not_kept_inside_is_not_proven(text):
    predictor = random_predictor("rescal", Cube())
    (group,) = group_clauses([parse_clause(text)], ENTITIES, RELATIONS)
    assert not certify(predictor, [group])[0].proven.any()


def test_one_bit_above_the_border_is_not_proven():
    predictor = random_predictor("distmult", Cube())
    hardened(predictor, CONJUNCTION)
    relations = predictor.relations.data
    relations[2] = relations[:2].mean(0)
    relations[2, 0] = 1.0
    relations[0, 0], relations[1, 0] = 1.0 + 2**-23, 1.0 - 2**-24  # their mean is 1 + 2⁻²⁵, which is 1 when rounded
    (group,) = group_clauses([parse_clause(CONJUNCTION)], ENTITIES, RELATIONS)
    assert not certify(predictor, [group])[0].proven.any()


@pytest.mark.parametrize(
    ("text", "semantics", "holds"),
    [
        (EXCLUSIVE, Godel(), True),
        (EXCLUSIVE, Threshold(0.0, 0.0), True),
        (EXCLUSIVE, Threshold(0.5, 0.0), True),
        (EXCLUSIVE, Threshold(-0.5, -0.5), False),
        (ALWAYS, Threshold(0.5, 0.5), False),
        (ALWAYS, Threshold(0.5, -0.5), True),
        (CONJUNCTION, Threshold(0.5, 0.5), True),
        (CONJUNCTION, Threshold(0.5, 0.6), False),
        (CONJUNCTION, Sum(), False),
        (EXCLUSIVE, Sum(), True),
    ],
)
def test_what_is_proven_depends_on_the_semantics(text, semantics, holds):
    predictor = random_predictor("distmult", Cube())
    hardened(predictor, text)
    groups = group_clauses([parse_clause(text)], ENTITIES, RELATIONS)
    assert certify(predictor, groups, semantics=semantics)[0].proven.all() == holds


def test_on_vectors_with_negative_numbers_these_shapes_are_refused():
    hard = hardened(random_predictor("complex", Sphere()), CONJUNCTION, EXCLUSIVE, REFLEXIVE)
    assert not hard.clauses
    (reason,) = {reason for _, reason in hard.refused}
    assert reason.startswith("several atoms, false and r(X, X) can be ordered on vectors without negative numbers")


@pytest.mark.parametrize("seed", range(40))
def test_a_conjunction_holds_for_distmult_exactly_where_some_mean_of_its_body_is_below_the_head(seed):
    """By linear programming on both sides: products xᵢyᵢ are any numbers d ≥ 0."""
    one, other, head = np.random.default_rng(seed).normal(size=(3, 3)) + np.array([[0.0], [0.0], [0.5]])
    # The largest t with one·d − head·d ≥ t and other·d − head·d ≥ t, for d ≥ 0 of sum 1.
    rows = np.stack([[*(head - one), 1.0], [*(head - other), 1.0]])
    worst = linprog(
        [0, 0, 0, -1], A_ub=rows, b_ub=[0, 0], A_eq=[[1, 1, 1, 0]], b_eq=[1], bounds=[*[(0, None)] * 3, (None, None)]
    )
    # λ one + (1 − λ) other ≤ head
    mean = linprog([0.0], A_ub=(one - other).reshape(-1, 1), b_ub=head - other, bounds=[(0, 1)])
    assert (-worst.fun <= 1e-9) == (mean.status == 0)


@pytest.mark.parametrize("scorer", ["distmult", "complex", "simple", "rescal", "hole", "cp"])
def test_a_chain_breaks_wherever_its_body_can_be_true(scorer):
    """Halving X and Z again and again halves both atoms of the body, and quarters the head."""
    model, generator = SCORERS[scorer](4), torch.Generator().manual_seed(0)
    broken = 0
    for _ in range(50):
        p, q, h = torch.randn(3, model.relation_dim, generator=generator)
        x, y, z = torch.rand(3, 200, 4, generator=generator)
        true = (model.score(x, p, y) > 0.01) & (model.score(y, q, z) > 0.01)
        if not true.any():
            continue
        x, y, z = (vectors[true][0] for vectors in (x, y, z))
        for _ in range(20):
            x, z = x / 2, z / 2
        assert min(model.score(x, p, y), model.score(y, q, z)) > model.score(x, h, z)
        broken += 1
    assert broken > 10


def test_no_score_for_what_is_true_saves_a_chain_of_distmult_on_the_cube():
    """With the halves of the components for X and for Z, and all for Y, the head scores 0."""
    model, generator = SCORERS["distmult"](8), torch.Generator().manual_seed(0)
    p, q, h = torch.randn(3, 8, generator=generator).abs()
    first = torch.tensor([1.0, 0] * 4)
    threshold = min((p * first).sum(), (q * (1 - first)).sum())
    assert threshold > 0.5
    assert model.score(first, p, torch.ones(8)) >= threshold
    assert model.score(torch.ones(8), q, 1 - first) >= threshold
    assert model.score(first, h, 1 - first) == 0
