"""Closed forms equal the largest violation over the whole domain, found by brute force in double precision."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clausal.adversary import SEMANTICS, ClosedForm, GradientAscent, certify, without_closed_form
from clausal.adversary.semantics import Threshold
from clausal.model import Ball, BlockScorer, Box, Cube, Sphere, Unbounded
from clausal.model.model_f import ModelF
from clausal.model.scorers import SCORERS
from random_models import groups_of, random_predictor

CLAUSES = {
    "implication": "p(X,Y) => q(X,Y)",
    "inverse": "p(X,Y) => q(Y,X)",
    "symmetry": "p(X,Y) => p(Y,X)",
}
ROUND, BOXES = [Sphere(), Ball()], [Cube(), Box(-0.5, 0.75)]
MODELS = [
    *((scorer, domain) for scorer in ("distmult", "complex", "simple", "cp") for domain in ROUND + BOXES),
    *((scorer, domain) for scorer in ("hole", "rescal") for domain in ROUND),
    *(("rescal", domain) for domain in BOXES),  # NP-hard, and so only in low dimensions
]
numbers = st.floats(-4, 4, width=32)
DIMS = {"distmult": st.integers(1, 4), "hole": st.integers(1, 5), "rescal": st.integers(1, 3)}


@st.composite
def predictors(draw, scorer, domain):
    """A predictor with any numbers for its first two relations."""
    dim = draw(DIMS.get(scorer, st.sampled_from([2, 4])))
    predictor = random_predictor(scorer, domain, dim=dim, dtype=torch.float64)
    predictor.encoder.weight.data = domain.project(predictor.encoder.weight.data)  # again, in double precision
    shape = (2, predictor.scorer.relation_dim)
    predictor.relations.data[:2] = torch.from_numpy(draw(hnp.arrays(np.float64, shape, elements=numbers)))
    return predictor


def score_matrix(predictor, relation):
    """The matrix M with score = xᵀ M y, from the scores of unit vectors: nothing of the closed form."""
    unit = torch.eye(predictor.scorer.dim, dtype=torch.float64)
    return predictor.scorer.score(unit[:, None], predictor.relations[relation], unit[None]).detach().numpy()


def violation_matrix(predictor, kind):
    body, head = score_matrix(predictor, 0), score_matrix(predictor, 0 if kind == "symmetry" else 1)
    return body - (head if kind == "implication" else head.T)


def best_corner(matrix, domain):
    """The largest [xᵀ M y]₊ over all pairs of corners of a box, where a bilinear form has its maximum."""
    corners = np.array(list(itertools.product([domain.low, domain.high], repeat=len(matrix))))
    return max(0.0, (corners @ matrix @ corners.T).max())


def brute_force(predictor, kind):
    matrix = violation_matrix(predictor, kind)
    if isinstance(predictor.domain, Box):
        return best_corner(matrix, predictor.domain)
    return np.linalg.norm(matrix, ord=2)  # the largest singular value


ONE_VARIABLE = {
    "p(X,X) => q(X,X)": lambda p, q, c, d: (p - q, 0 * c),
    "p(X,'e1') => q(X,'e2')": lambda p, q, c, d: (0 * p, p @ c - q @ d),
    "p(X,'e1') => q('e1',X)": lambda p, q, c, d: (0 * p, p @ c - q.T @ c),
    "p('e2',X) => q(X,X)": lambda p, q, c, d: (-q, p.T @ d),
    "p(X,X) => q(X,'e1')": lambda p, q, c, d: (p, -q @ c),
}
"""Clauses as xᵀ S x + ℓᵀ x, given the matrices of p and q and the vectors of e1 and e2."""


def one_variable(predictor, text):
    vectors = predictor.encode_all().detach().numpy()
    square, linear = ONE_VARIABLE[text](score_matrix(predictor, 0), score_matrix(predictor, 1), vectors[1], vectors[2])
    return (square + square.T) / 2, linear


def best_on_faces(square, linear, domain):
    """The largest value on a box: every number at one of its limits or free, and level in all that are free."""
    best = -np.inf
    for choice in itertools.product([domain.low, domain.high, None], repeat=len(linear)):
        free = np.array([value is None for value in choice])
        x = np.array([0.0 if value is None else value for value in choice])
        if free.any():
            pull = linear[free] + 2 * square[np.ix_(free, ~free)] @ x[~free]
            x[free] = -np.linalg.lstsq(2 * square[np.ix_(free, free)], pull, rcond=None)[0]
        if (x >= domain.low - 1e-12).all() and (x <= domain.high + 1e-12).all():
            best = max(best, x @ square @ x + linear @ x)
    return max(0.0, best)


def largest(adversary, predictor, groups):
    return adversary.inconsistency(predictor, groups, adversary.find(predictor, groups))


def largest_violation(predictor, kind):
    groups = groups_of(CLAUSES[kind])
    assert not without_closed_form(ClosedForm(), predictor, groups)
    return largest(ClosedForm(), predictor, groups).item()


@pytest.mark.parametrize("kind", CLAUSES)
@pytest.mark.parametrize(("scorer", "domain"), MODELS, ids=str)
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_closed_form_equals_brute_force_and_is_attained(scorer, domain, kind, data):
    predictor = data.draw(predictors(scorer, domain))
    expected = brute_force(predictor, kind)
    assert largest_violation(predictor, kind) == pytest.approx(expected, abs=1e-9)
    (certificate,) = certify(predictor, groups_of(CLAUSES[kind]))
    assert certificate.attained.item() == pytest.approx(expected, abs=1e-9)
    assert domain.contains(certificate.vectors, 1e-9).all()


@pytest.mark.parametrize("text", ONE_VARIABLE)
@pytest.mark.parametrize("domain", BOXES, ids=repr)
@pytest.mark.parametrize("scorer", ["distmult", "complex", "simple", "cp"])
@settings(max_examples=2, deadline=None)
@given(data=st.data())
def test_one_variable_and_constants_on_boxes(scorer, domain, text, data):
    predictor = data.draw(predictors(scorer, domain))
    expected = best_on_faces(*one_variable(predictor, text), domain)
    (certificate,) = certify(predictor, groups_of(text))
    assert certificate.bound.item() == pytest.approx(expected, abs=1e-9)
    assert certificate.attained.item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("text", list(ONE_VARIABLE)[:3])
@pytest.mark.parametrize("domain", ROUND, ids=repr)
@pytest.mark.parametrize("scorer", ["distmult", "complex", "simple", "cp", "hole", "rescal"])
@settings(max_examples=2, deadline=None)
@given(data=st.data())
def test_one_variable_and_constants_on_spheres_and_balls(scorer, domain, text, data):
    predictor = data.draw(predictors(scorer, domain))
    square, linear = one_variable(predictor, text)
    expected = max(0.0, np.linalg.eigvalsh(square).max() + np.linalg.norm(linear))  # one of the two is 0
    (certificate,) = certify(predictor, groups_of(text))
    assert certificate.bound.item() == pytest.approx(expected, abs=1e-9)
    assert certificate.attained.item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("domain", ROUND, ids=str)
def test_a_constant_in_every_atom_leaves_a_linear_bound_that_ascents_nearly_reach(domain):
    predictor, groups = random_predictor("complex", domain, seed=1), groups_of("p(X, e1) => q(X, e2)")
    semantics = Threshold(-0.3, 0.3)
    (found,) = GradientAscent(50, 200, semantics=semantics).find(predictor, groups, torch.Generator().manual_seed(0))
    reached = groups[0].violation(predictor, semantics, found.vectors).max()
    bound = largest(ClosedForm(semantics=semantics), predictor, groups)
    assert 0 < reached <= bound <= 1.05 * reached


@pytest.mark.parametrize("kind", CLAUSES)
def test_on_discs_complex_has_the_moduli_weighted_by_the_squared_radii(kind):
    predictor = random_predictor("complex", Cube(), dim=6, seed=3, dtype=torch.float64)
    vectors, relations = (
        torch.complex(*t.detach().chunk(2, -1)) for t in (predictor.encode_all(), predictor.relations[:2])
    )
    body, head = relations[0], relations[0 if kind == "symmetry" else 1]
    difference = body - (head if kind == "implication" else head.conj())
    expected = (vectors.abs().amax(0) ** 2 * difference.abs()).sum().item()
    (certificate,) = certify(predictor, groups_of(CLAUSES[kind]), region="discs")
    assert certificate.bound.item() == pytest.approx(expected, abs=1e-9)
    assert certificate.attained.item() == pytest.approx(expected, abs=1e-9)


def test_model_f_on_the_cube_is_the_lifted_loss():
    predictor = random_predictor("model-f", Cube(), dim=5, dtype=torch.float64)
    p, q, r = predictor.relations[:3].detach()
    (one,), (two,) = (certify(predictor, groups_of(text)) for text in ("p(X,Y) => q(X,Y)", "p(X,Y), q(X,Y) => r(X,Y)"))
    assert one.bound.item() == pytest.approx((p - q).clamp_min(0).sum().item(), abs=1e-9)
    assert one.exact
    corners = torch.tensor(list(itertools.product([0.0, 1.0], repeat=5)), dtype=torch.float64)
    assert two.bound.item() >= torch.minimum(corners @ (p - r), corners @ (q - r)).max().item() - 1e-9
    assert two.gap.item() < 1e-6  # the forms are linear in the pair, so the dual is exact


@pytest.mark.parametrize("kind", CLAUSES)
@pytest.mark.parametrize(("scorer", "domain"), MODELS, ids=str)
def test_many_ascents_reach_the_closed_form_and_never_exceed_it(scorer, domain, kind):
    predictor = random_predictor(scorer, domain, dim=6, seed=11, dtype=torch.float64)
    matrix = torch.from_numpy(violation_matrix(predictor, kind))
    x, y = domain.sample((2, 100, 6), torch.Generator().manual_seed(0)).double()
    best = 0.0
    for _ in range(200):  # plain projected ascent, which on the sphere is power iteration
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
    bounds = largest(ClosedForm(), predictor, groups)
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
        return largest(ClosedForm(), predictor, groups).sum()

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


def test_every_scorer_of_blocks_is_compared_with_brute_force_here():
    assert {scorer for scorer, _ in MODELS} == {
        name for name, kind in SCORERS.items() if issubclass(kind, BlockScorer)
    } - {ModelF.name}


@pytest.mark.parametrize(
    ("scorer", "domain", "text"),
    [
        ("hole", Cube(), "p(X,Y) => q(X,Y)"),
        ("er-mlp", Cube(), "p(X,Y) => q(X,Y)"),
        ("complex", Unbounded(), "p(X,Y) => q(X,Y)"),
        ("rotate", Unbounded(), "p(X,Y) => q(X,Y)"),
        ("transe", Unbounded(), "p(X,Y), q(Y,Z) => r(X,Z)"),
    ],
)
def test_no_closed_form_is_claimed_where_none_is_known(scorer, domain, text):
    predictor, groups = random_predictor(scorer, domain), groups_of(text)
    assert without_closed_form(ClosedForm(), predictor, groups)
    (certificate,) = certify(predictor, groups)
    assert certificate.bound.item() == np.inf
    assert certificate.method == "gradient ascent"
    assert not certificate.exact
    start = predictor.random_arguments((1, 50, groups[0].shape.variables), torch.Generator().manual_seed(1))
    assert certificate.attained.item() > groups[0].violation(predictor, SEMANTICS["godel"](), start).mean().item()


def test_rescal_in_more_dimensions_has_no_closed_form_on_the_cube():
    assert without_closed_form(ClosedForm(), random_predictor("rescal", Cube(), dim=8), groups_of("p(X,Y) => q(X,Y)"))
