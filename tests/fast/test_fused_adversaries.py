"""Adversaries by kernels find the sets of those by torch, and have their losses and gradients."""

import pytest
import torch
from random_models import groups_of, random_predictor

from clausal.adversary import ClosedForm, GradientAscent
from clausal.adversary.semantics import POOLINGS, SEMANTICS, Godel, Threshold
from clausal.fast.ascent import FusedAscent, can_fuse
from clausal.fast.closed_form import FusedClosedForm
from clausal.model import SCORERS
from clausal.model.domains import Ball, Box, Cube, Sphere, Unbounded

TRILINEAR = [name for name, kind in SCORERS.items() if kind.terms is not None]
CLAUSES = (
    "p(X, Y) => q(Y, X)",
    "r(X, Y) => p(Y, X)",
    "p(X, Y), q(Y, Z) => r(X, Z)",
    "p(X, X) => q(X, X)",
    "p(X, Y), ~q(Y, X) => r(X, Y) | s(X, Y)",
    "p(X, Y) <=> s(X, Y)",
    "p(X, e1) => q(X, e2)",
)


def both(predictor, groups, sets=7, steps=6, rate=0.1, pooling="sum", semantics=None, region="domain"):
    """What each of the two finds, and its inconsistency on that with the gradient by relations."""
    results = []
    for kind in (GradientAscent, FusedAscent):
        adversary = kind(sets, steps, rate, pooling, semantics, region, torch.tensor([[0, 0, 1], [2, 1, 3], [4, 2, 5]]))
        found = adversary.find(predictor, groups, torch.Generator().manual_seed(3))
        constants = adversary.while_constant(predictor, groups, found)
        inconsistency = adversary.constant_inconsistency(predictor, groups, constants)
        results.append([*found, inconsistency, *torch.autograd.grad(inconsistency.sum(), predictor.relations)])
    return results


@pytest.mark.parametrize("domain", [Cube(), Box(-0.5, 2.0), Sphere(), Ball(), Unbounded()], ids=repr)
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_sets_losses_and_gradients_are_those_of_torch(scorer, domain):
    predictor, groups = random_predictor(scorer, domain, dim=10, seed=6), groups_of(*CLAUSES)
    by_torch, by_kernels = both(predictor, groups)
    assert by_torch[-2].max() > 0
    torch.testing.assert_close(by_kernels, by_torch, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("semantics", [kind() for kind in SEMANTICS.values()], ids=list(SEMANTICS))
def test_every_semantics_and_pooling_agrees(semantics, pooling):
    predictor, groups = random_predictor("complex", Cube(), dim=6, seed=2), groups_of(*CLAUSES)
    by_torch, by_kernels = both(predictor, groups, pooling=pooling, semantics=semantics)
    torch.testing.assert_close(by_kernels, by_torch, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("region", ["hull", "discs", "roles"])
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_every_region_agrees(scorer, region):
    predictor, groups = random_predictor(scorer, Unbounded(), dim=6, seed=2), groups_of(*CLAUSES)
    by_torch, by_kernels = both(predictor, groups, region=region)
    torch.testing.assert_close(by_kernels, by_torch, rtol=1e-4, atol=1e-5)


def test_threads_share_the_sets_without_changing_them():
    predictor, groups, before = random_predictor("complex", Cube(), dim=8), groups_of(*CLAUSES), torch.get_num_threads()
    results = []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            results.append(both(predictor, groups)[1])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


@pytest.mark.parametrize("semantics", [Godel(), Threshold(0.1, 0.2)], ids=["godel", "threshold"])
@pytest.mark.parametrize("domain", [Cube(), Box(-0.5, 2.0)], ids=repr)
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_closed_forms_have_the_losses_and_gradients_of_torch(scorer, domain, semantics):
    predictor = random_predictor(scorer, domain, dim=6, seed=7)
    groups = groups_of(*CLAUSES[:3], "p(X, Y) => q(X, Y) & r(Y, X)", "p(X, Y) <=> s(X, Y)")
    by_torch, by_kernels = ClosedForm(None, semantics), FusedClosedForm(None, semantics)
    found = by_torch.find(predictor, groups)
    with torch.no_grad():  # a step away from where λ makes two corners equally bad, and either may count
        predictor.relations += 0.05 * torch.randn(predictor.relations.shape, generator=torch.Generator().manual_seed(4))
    assert_same_gradients(predictor, groups, by_torch, by_kernels, found)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("semantics", [kind() for kind in SEMANTICS.values()], ids=list(SEMANTICS))
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_gradients_on_sets_are_those_of_autograd(scorer, semantics, pooling):
    predictor, groups = random_predictor(scorer, Cube(), dim=6, seed=7), groups_of(*CLAUSES[:-1])
    by_torch, by_kernels = (kind(5, 3, pooling=pooling, semantics=semantics) for kind in (GradientAscent, FusedAscent))
    found = by_torch.find(predictor, groups, torch.Generator().manual_seed(3))
    assert_same_gradients(predictor, groups, by_torch, by_kernels, found)


def assert_same_gradients(predictor, groups, by_torch, by_kernels, found):
    """Weigh every clause differently, and start from a gradient that is not zero."""
    constants = by_torch.while_constant(predictor, groups, found)
    inconsistency = by_torch.constant_inconsistency(predictor, groups, constants)
    slopes = torch.arange(1.0, 1 + len(inconsistency))
    (gradient,) = torch.autograd.grad((slopes * inconsistency).sum(), predictor.relations)
    into = torch.ones_like(gradient)
    constants = by_kernels.while_constant(predictor, groups, found)
    values = by_kernels.add_gradient(predictor, groups, constants, slopes, into)
    assert inconsistency.max() > 0
    torch.testing.assert_close([values, into - 1], [inconsistency.detach(), gradient], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [FusedAscent, FusedClosedForm])
def test_clauses_that_name_entities_are_left_to_autograd(kind):
    predictor, groups = random_predictor("complex", Cube(), dim=6), groups_of(*CLAUSES)
    adversary, into = kind(), torch.zeros(4, 6)
    constants = adversary.while_constant(predictor, groups, adversary.find(predictor, groups))
    assert adversary.add_gradient(predictor, groups, constants, torch.ones(len(CLAUSES)), into) is None
    assert not into.any()


def test_nan_is_found_and_not_skipped():
    predictor, groups = random_predictor("complex", Cube(), dim=6), groups_of("p(X, Y) => q(Y, X)")
    predictor.relations.data[0, 0] = float("nan")
    adversary = FusedAscent(3)
    found = adversary.find(predictor, groups, torch.Generator().manual_seed(3))
    inconsistency = adversary.constant_inconsistency(predictor, groups, found)
    (gradient,) = torch.autograd.grad(inconsistency.sum(), predictor.relations)
    assert inconsistency.isnan().all()
    assert gradient.isnan().any()


def test_clauses_of_constants_alone_are_left_to_torch():
    predictor, groups = random_predictor("complex", Cube(), dim=6), groups_of("p(e1, e2)", "p(X, e1) => q(X, e2)")
    by_torch, by_kernels = both(predictor, groups)
    torch.testing.assert_close(by_kernels, by_torch)


def test_only_trilinear_scorers_have_kernels():
    assert can_fuse(random_predictor("complex"))
    assert not can_fuse(random_predictor("rescal"))
