"""Projections land in the domain, stay there, and are the nearest points; samples lie in the domain and fill it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clausal.errors import InputError
from clausal.model import DOMAINS, Ball, Box, Cone, Cube, Sphere, Unbounded

ALL = [Sphere(), Cube(), Ball(), Box(-2.0, 0.5), Cone(), Cone(0.5), Unbounded()]
vectors = hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 5)), elements=st.floats(-5, 5, width=32))
seeds = st.integers(0, 2**31 - 1)


def test_every_registered_domain_is_tested():
    assert {type(domain) for domain in ALL} == set(DOMAINS.values())


@pytest.mark.parametrize("domain", ALL, ids=repr)
@settings(deadline=None)
@given(given_vectors=vectors)
def test_projection_lands_in_the_domain_and_is_idempotent(domain, given_vectors):
    projected = domain.project(torch.from_numpy(given_vectors))
    assert domain.contains(projected).all()
    torch.testing.assert_close(domain.project(projected), projected, rtol=0, atol=1e-12)


def independent_membership(domain, points):
    """Membership by the definition of each domain, without its projection."""
    norms = points.square().sum(-1).sqrt()
    if isinstance(domain, Sphere):
        return (norms - 1).abs() < 1e-5
    if isinstance(domain, Ball):
        return norms < 1 + 1e-5
    if isinstance(domain, Box):
        return ((points >= domain.low - 1e-5) & (points <= domain.high + 1e-5)).all(-1)
    return torch.ones(points.shape[:-1], dtype=torch.bool)


@pytest.mark.parametrize("domain", ALL, ids=repr)
@settings(max_examples=50, deadline=None)
@given(given_vectors=vectors, seed=seeds)
def test_no_point_of_the_domain_is_nearer_than_the_projection(domain, given_vectors, seed):
    points = torch.from_numpy(given_vectors)
    others = domain.sample((300, *points.shape), torch.Generator().manual_seed(seed)).double()
    distance = torch.linalg.vector_norm(domain.project(points) - points, dim=-1)
    nearest = torch.linalg.vector_norm(others - points, dim=-1).amin(0)
    assert (distance <= nearest + 1e-6).all()


@pytest.mark.parametrize("domain", ALL, ids=repr)
def test_projections_and_samples_satisfy_the_definition(domain):
    generator = torch.Generator().manual_seed(1)
    samples = domain.sample((500, 3), generator)
    assert samples.shape == (500, 3)
    assert independent_membership(domain, samples).all()
    assert domain.contains(samples).all()
    assert independent_membership(domain, domain.project(3 * torch.randn(500, 3, generator=generator))).all()


@pytest.mark.parametrize("domain", [Sphere(), Cube(), Ball(), Box(-2.0, 0.5)], ids=repr)
def test_points_outside_are_not_contained(domain):
    assert not domain.contains(torch.tensor([[1.5, 0.0], [-3.0, 0.0]])).any()


@pytest.mark.parametrize("domain", [Sphere(), Cube(), Ball(), Box(-2.0, 0.5)], ids=repr)
def test_samples_fill_the_domain_evenly(domain):
    samples = domain.sample((4000, 2), torch.Generator().manual_seed(0))
    centre = (domain.low + domain.high) / 2 if isinstance(domain, Box) else 0.0
    torch.testing.assert_close(samples.mean(0), torch.full((2,), centre), rtol=0, atol=0.06)
    if isinstance(domain, Ball):  # a quarter of a disc's area lies within half of its radius
        within = (torch.linalg.vector_norm(samples, dim=-1) < 0.5).float().mean().item()
        assert within == pytest.approx(0.25, abs=0.03)


def test_projecting_in_place_equals_projecting():
    for domain in ALL:
        points = torch.randn(20, 4, generator=torch.Generator().manual_seed(2))
        expected = domain.project(points)
        assert domain.project_(points) is points
        assert torch.equal(points, expected)


def test_the_zero_vector_goes_to_the_sphere_with_a_finite_gradient():
    zero = torch.zeros(3, requires_grad=True)
    projected = Sphere().project(zero)
    assert torch.linalg.vector_norm(projected).item() == pytest.approx(1)
    (gradient,) = torch.autograd.grad(projected.sum(), zero)
    assert gradient.isfinite().all()


@pytest.mark.parametrize("domain", ALL, ids=repr)
def test_a_value_that_is_not_a_number_is_never_hidden_by_projection(domain):
    assert domain.project(torch.tensor([float("nan"), 0.5])).isnan().any()


def test_a_box_with_bounds_the_wrong_way_round_is_refused():
    with pytest.raises(InputError, match=r"the lower bound 1\.0 must be below the upper bound 1\.0"):
        Box(1.0, 1.0)
