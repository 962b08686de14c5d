"""Closed forms equal the largest violation over the whole domain, found by brute force in double precision."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from random_models import groups_of, random_predictor

from clausal.consistency import CLOSED_FORMS, SEMANTICS, ClosedForm, without_closed_form
from clausal.consistency.closed_form import closed_form
from clausal.model import SCORERS, Ball, Box, Cube, Sphere

CLAUSES = {
    "implication": "p(X,Y) => q(X,Y)",
    "inverse": "p(X,Y) => q(Y,X)",
    "symmetry": "p(X,Y) => p(Y,X)",
}
MODELS = [(scorer, domain) for scorer in ("distmult", "complex") for domain in (Sphere(), Cube())]
numbers = st.floats(-4, 4, width=32)
pairs_of_relations = {
    "distmult": st.integers(1, 4).flatmap(lambda k: hnp.arrays(np.float64, (2, k), elements=numbers)),
    "complex": st.integers(1, 2).flatmap(lambda k: hnp.arrays(np.float64, (2, 2 * k), elements=numbers)),
}


def predictor_with(scorer, domain, relations):
    predictor = random_predictor(scorer, domain, dim=relations.shape[1], dtype=torch.float64)
    predictor.relations.data[:2] = torch.from_numpy(relations)
    return predictor


def violation_matrix(predictor, kind):
    """The matrix M with violation = [xᵀ M y]₊, from the scores of unit vectors: nothing of the closed form."""
    unit = torch.eye(predictor.scorer.dim, dtype=torch.float64)
    body, head = predictor.relations[0], predictor.relations[0 if kind == "symmetry" else 1]

    def form(relation):
        return predictor.scorer.score(relation, unit[:, None], unit[None])

    head_form = form(head) if kind == "implication" else form(head).T
    return (form(body) - head_form).detach().numpy()


def best_corner(matrix):
    """The largest [xᵀ M y]₊ over all pairs of corners of the unit cube, where a bilinear form has its maximum."""
    corners = np.array(list(itertools.product([0.0, 1.0], repeat=len(matrix))))
    return max(0.0, (corners @ matrix @ corners.T).max())


def brute_force(predictor, kind):
    matrix = violation_matrix(predictor, kind)
    if isinstance(predictor.domain, Cube):
        return best_corner(matrix)
    return np.linalg.norm(matrix, ord=2)  # the largest singular value


def largest_violation(predictor, kind):
    groups = groups_of(CLAUSES[kind])
    assert not without_closed_form(predictor, groups)
    return ClosedForm().inconsistency(predictor, groups, []).item()


@pytest.mark.parametrize("kind", CLAUSES)
@pytest.mark.parametrize(("scorer", "domain"), MODELS, ids=str)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_closed_form_equals_brute_force(scorer, domain, kind, data):
    predictor = predictor_with(scorer, domain, data.draw(pairs_of_relations[scorer]))
    assert largest_violation(predictor, kind) == pytest.approx(brute_force(predictor, kind), abs=1e-9)


@pytest.mark.parametrize("kind", CLAUSES)
@pytest.mark.parametrize(("scorer", "domain"), MODELS, ids=str)
def test_many_ascents_reach_the_closed_form_and_never_exceed_it(scorer, domain, kind):
    predictor = random_predictor(scorer, domain, dim=8, seed=11, dtype=torch.float64)
    matrix = torch.from_numpy(violation_matrix(predictor, kind))
    x, y = domain.sample((2, 200, 8), torch.Generator().manual_seed(0)).double()
    best = 0.0
    for _ in range(300):  # plain projected ascent, which on the sphere is power iteration
        x, y = domain.project(x + y @ matrix.T), domain.project(y + x @ matrix)
        best = max(best, torch.einsum("ni,ij,nj->n", x, matrix, y).max().item())
    bound = largest_violation(predictor, kind)
    assert best <= bound + 1e-9
    assert best >= 0.999 * bound


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("scorer", "domain"), MODELS, ids=str)
def test_real_entities_and_random_points_of_the_domain_never_exceed_the_closed_form(scorer, domain, seed):
    predictor = random_predictor(scorer, domain, dim=6, seed=seed)
    groups = groups_of("p(X,Y) => q(X,Y)", "r(X,Y) => s(X,Y)", "p(X,Y) => q(Y,X)", "s(X,Y) => s(Y,X)")
    bounds = ClosedForm().inconsistency(predictor, groups, [])
    vectors = [domain.sample((len(group.clauses), 2000, 2, 6)) for group in groups]
    sampled = torch.cat(
        [
            group.violation(predictor, SEMANTICS["godel"](), points).amax(1)
            for group, points in zip(groups, vectors, strict=True)
        ]
    )
    assert (sampled <= bounds + 1e-5).all()
    assert sampled.max() > 0


@pytest.mark.parametrize(("scorer", "domain"), MODELS, ids=str)
def test_the_gradient_of_a_closed_form_is_that_of_the_worst_violation(scorer, domain):
    predictor = random_predictor(scorer, domain, dim=6, seed=5, dtype=torch.float64)
    groups = groups_of("p(X,Y) => q(X,Y)", "r(X,Y) => s(Y,X)")

    def total(relations):
        predictor.relations.data.copy_(relations)
        return ClosedForm().inconsistency(predictor, groups, []).sum()

    start = predictor.relations.detach().clone()
    (gradient,) = torch.autograd.grad(total(start), predictor.relations)
    direction = torch.randn(start.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    step = 1e-6
    slope = (total(start + step * direction) - total(start - step * direction)).item() / (2 * step)
    assert (gradient * direction).sum().item() == pytest.approx(slope, rel=1e-5)


def test_symmetry_costs_nothing_in_distmult_and_the_imaginary_part_in_complex():
    assert largest_violation(random_predictor("distmult", Sphere(), seed=2), "symmetry") == 0
    predictor = random_predictor("complex", Cube(), dim=2)
    predictor.relations.data[0] = torch.tensor([3.0, -0.75])
    assert largest_violation(predictor, "symmetry") == pytest.approx(1.5)  # 2 |Im r|


def test_every_closed_form_is_compared_with_brute_force_here():
    assert set(CLOSED_FORMS) == {(SCORERS[scorer], type(domain)) for scorer, domain in MODELS}


@pytest.mark.parametrize(
    ("scorer", "domain", "text"),
    [
        ("distmult", Cube(), "p(X,Y), q(Y,Z) => r(X,Z)"),
        ("complex", Sphere(), "p(X,X) => q(X,X)"),
        ("complex", Cube(), "p(X,'e1') => q(X,'e1')"),
        ("complex", Cube(), "p(X,Y) <=> q(X,Y)"),
        ("complex", Cube(), "p(X,Y) => q(X,Z)"),
        ("transe", Cube(), "p(X,Y) => q(X,Y)"),
        ("distmult", Box(-1.0, 1.0), "p(X,Y) => q(X,Y)"),
        ("distmult", Ball(), "p(X,Y) => q(X,Y)"),
        ("model-f", Cube(), "p(X,Y) => q(X,Y)"),
    ],
)
def test_no_closed_form_is_claimed_outside_of_the_table(scorer, domain, text):
    (group,) = groups_of(text)
    assert closed_form(random_predictor(scorer, domain), group) is None
