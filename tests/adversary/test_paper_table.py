"""The paper's table of closed forms is right, by brute force, and the general bounds agree with it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from clausal.adversary import ClosedForm
from clausal.adversary.paper_table import PAPER_TABLE
from clausal.model import Cube, Sphere
from random_models import groups_of, random_predictor

CLAUSES = {
    "symmetry": "p(X,Y) => p(Y,X)",
    "implication": "p(X,Y) => q(X,Y)",
    "inverse": "p(X,Y) => q(Y,X)",
}
DOMAINS = {"sphere": Sphere(), "cube": Cube()}
SCORERS = {
    "distmult": lambda r, x, y: (r * x * y).sum(-1),
    "complex": lambda r, x, y: (as_complex(r) * as_complex(x) * as_complex(y).conj()).sum(-1).real,
}
"""⟨r, x, y⟩ and Re⟨r, x, ȳ⟩, written down here once more."""

every_line = pytest.mark.parametrize(("scorer", "domain", "kind"), PAPER_TABLE, ids=map("-".join, PAPER_TABLE))


def as_complex(vectors):
    real, imaginary = np.split(vectors, 2, -1)
    return real + 1j * imaginary


def arguments(kind, body, head):
    return (body,) if kind == "symmetry" else (body, head)


def cube_corners(dim):
    return np.array(list(itertools.product([0.0, 1.0], repeat=dim)))


def sphere_grid(dim, steps=48):
    """Points all over the unit sphere, by its angles; a step of an angle is π / 24 or less."""
    points = np.ones((1, 1))
    for _ in range(dim - 1):
        angles = 2 * np.pi * np.arange(steps) / steps
        last, rest = points[:, None, -1:], np.repeat(points[:, None, :-1], steps, 1)
        turned = np.concatenate([rest, last * np.cos(angles)[:, None], last * np.sin(angles)[:, None]], -1)
        points = turned.reshape(-1, points.shape[1] + 1)
    return points


def best_pair(scorer, kind, body, head, points):
    """The largest violation over all pairs of these points."""
    x, y = points[:, None], points[None]
    head = body if kind == "symmetry" else head
    score = SCORERS[scorer]
    return (score(body, x, y) - (score(head, x, y) if kind == "implication" else score(head, y, x))).max()


@every_line
@pytest.mark.parametrize("dim", [2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_each_formula_is_the_largest_violation_that_brute_force_finds(scorer, domain, kind, dim, seed):
    body, head = np.random.default_rng(seed).normal(size=(2, dim))
    relations = arguments(kind, torch.from_numpy(body), torch.from_numpy(head))
    value = PAPER_TABLE[scorer, domain, kind](*relations).item()
    if domain == "cube":  # a bilinear function is largest at a corner
        assert value == pytest.approx(best_pair(scorer, kind, body, head, cube_corners(dim)), abs=1e-12)
    else:
        points = sphere_grid(dim, steps=48 if dim == 2 else 12)
        found = best_pair(scorer, kind, body, head, points)
        assert found <= value + 1e-12
        assert found >= np.cos(2 * np.pi / len(points) ** (1 / (dim - 1))) * value  # a step of the grid away


@every_line
@pytest.mark.parametrize("seed", range(3))
def test_the_general_bounds_have_the_value_and_gradient_of_the_table(scorer, domain, kind, seed):
    predictor = random_predictor(scorer, DOMAINS[domain], dim=8, seed=seed, dtype=torch.float64)
    groups, adversary = groups_of(CLAUSES[kind]), ClosedForm()
    general = adversary.inconsistency(predictor, groups, adversary.find(predictor, groups)).sum()
    (gradient,) = torch.autograd.grad(general, predictor.relations)

    relations = predictor.relations.detach().clone().requires_grad_()
    expected = PAPER_TABLE[scorer, domain, kind](*arguments(kind, relations[0], relations[1]))
    (expected_gradient,) = torch.autograd.grad(expected, relations)
    torch.testing.assert_close(general, expected, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-7, atol=1e-7)


@every_line
def test_each_formula_takes_relations_in_any_number_of_leading_dimensions(scorer, domain, kind):
    formula = PAPER_TABLE[scorer, domain, kind]
    relations = arguments(kind, *torch.randn(2, 3, 5, 6, generator=torch.Generator().manual_seed(0)))
    values = formula(*relations)
    assert values.shape == (3, 5)
    assert values[1, 2] == formula(*(relation[1, 2] for relation in relations))


def test_the_table_has_every_scorer_domain_and_clause_of_the_paper():
    assert set(PAPER_TABLE) == set(itertools.product(SCORERS, DOMAINS, CLAUSES))


def test_the_conjugate_of_delta_in_the_caption_would_make_the_two_implications_cost_the_same():
    body, head = torch.tensor([1.0, 2.0]), torch.tensor([1.0, -2.0])  # 1 + 2i and its conjugate
    for domain in DOMAINS:
        assert PAPER_TABLE["complex", domain, "inverse"](body, head) == 0  # ζ = b − r̄ = 0
        assert PAPER_TABLE["complex", domain, "implication"](body, head) == 4  # δ = b − r = 4i
