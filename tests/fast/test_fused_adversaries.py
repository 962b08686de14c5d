"""Adversaries by kernels find the sets of those by torch, and have their losses and gradients."""

import pytest
import torch

from clausal.adversary import ClosedForm, GradientAscent, RealEntities
from clausal.adversary.ascent import ascend
from clausal.adversary.semantics import POOLINGS, SEMANTICS, Godel, Sum, Threshold
from clausal.fast.clauses import KernelLoss, ascend_by_kernels
from clausal.fast.features import pair_form
from clausal.model import SCORERS
from clausal.model.domains import Ball, Box, Cube, Sphere, Unbounded
from clausal.training.objective import ClauseLoss
from random_models import groups_of, random_predictor

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


def both(predictor, groups, sets=7, steps=6, pooling="sum", semantics=None, region="domain", optimizer="adagrad"):
    """What each of the two finds, and its inconsistency on that with the gradient by relations."""
    facts = torch.tensor([[0, 0, 1], [2, 1, 3], [4, 2, 5]])
    adversary = GradientAscent(sets, steps, None, pooling, semantics, region, facts, optimizer)
    results = []
    for search, kind in ((ascend, ClauseLoss), (ascend_by_kernels, KernelLoss)):
        start = RealEntities(sets).find(predictor, groups, torch.Generator().manual_seed(3))
        found, loss = search(adversary, predictor, groups, start), kind(adversary, predictor, groups)
        loss.adopt(found)
        inconsistency = loss()
        by_relations = torch.autograd.grad(inconsistency.sum(), predictor.relations)
        results.append([*(one.vectors for one in found), inconsistency, *by_relations])
    return results


@pytest.mark.parametrize("domain", [Cube(), Box(-0.5, 2.0), Sphere(), Ball(), Unbounded()], ids=repr)
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_sets_losses_and_gradients_are_those_of_torch(scorer, domain):
    predictor, groups = random_predictor(scorer, domain, dim=10, seed=6), groups_of(*CLAUSES)
    by_torch, by_kernels = both(predictor, groups)
    assert by_torch[-2].max() > 0
    torch.testing.assert_close(by_kernels, by_torch, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("optimizer", ["sgd", "alternating"])
@pytest.mark.parametrize("domain", [Box(0.2, 1.0), Box(-0.5, 2.0), Sphere(), Ball()], ids=repr)
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_other_ascents_find_what_torch_finds(scorer, domain, optimizer):
    # Not on the cube: where vectors are 0, scores are alike, and either atom of a body may decide.
    predictor, groups = random_predictor(scorer, domain, dim=10, seed=6), groups_of(*CLAUSES)
    by_torch, by_kernels = both(predictor, groups, steps=3, optimizer=optimizer)
    assert by_torch[-2].max() > 0
    torch.testing.assert_close(by_kernels, by_torch, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("optimizer", ["sgd", "alternating"])
@pytest.mark.parametrize("semantics", [kind() for kind in SEMANTICS.values()], ids=list(SEMANTICS))
@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_other_ascents_agree_for_every_semantics(pooling, semantics, optimizer):
    # On the sphere, as at corners of the cube conditions are alike in value, and either may decide.
    predictor, groups = random_predictor("complex", Sphere(), dim=6, seed=2), groups_of(*CLAUSES)
    by_torch, by_kernels = both(predictor, groups, 5, 2, pooling, semantics, optimizer=optimizer)
    torch.testing.assert_close(by_kernels, by_torch, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("optimizer", ["sgd", "alternating"])
@pytest.mark.parametrize("region", ["hull", "discs", "roles"])
def test_other_ascents_agree_in_every_region(region, optimizer):
    predictor, groups = random_predictor("complex", Unbounded(), dim=6, seed=2), groups_of(*CLAUSES)
    by_torch, by_kernels = both(predictor, groups, 5, 2, region=region, optimizer=optimizer)
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


@pytest.mark.parametrize("semantics", [Godel(), Sum()], ids=["godel", "sum"])
@pytest.mark.parametrize("domain", [Sphere(), Ball()], ids=repr)
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_closed_forms_on_sphere_and_ball_have_the_losses_and_gradients_of_torch(scorer, domain, semantics):
    predictor = random_predictor(scorer, domain, dim=6, seed=7)
    texts = (
        "p(X, Y) => q(Y, X)",
        "r(X, Y) => s(X, Y)",
        "p(X, Y) => p(Y, X)",
        "p(X, X) => q(X, X)",
        "p(X, Y) <=> s(X, Y)",
    )
    groups = groups_of(*texts, "p(X, Y), q(Y, Z) => r(X, Z)")
    adversary = ClosedForm(None, semantics)
    by_kernel = [pair_form(adversary, predictor, group) is not None for group in groups]
    assert by_kernel == [True, True, False, False, False]
    found = adversary.find(predictor, groups)
    with torch.no_grad():  # a step away from where λ and μ make several components equally bad, and any may count
        predictor.relations += 0.05 * torch.randn(predictor.relations.shape, generator=torch.Generator().manual_seed(4))
    assert_same_gradients(predictor, groups, adversary, found)


@pytest.mark.parametrize("semantics", [Godel(), Threshold(0.1, 0.2)], ids=["godel", "threshold"])
@pytest.mark.parametrize("domain", [Cube(), Box(-0.5, 2.0)], ids=repr)
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_closed_forms_have_the_losses_and_gradients_of_torch(scorer, domain, semantics):
    predictor = random_predictor(scorer, domain, dim=6, seed=7)
    groups = groups_of(*CLAUSES[:3], "p(X, Y) => q(X, Y) & r(Y, X)", "p(X, Y) <=> s(X, Y)")
    adversary = ClosedForm(None, semantics)
    found = adversary.find(predictor, groups)
    with torch.no_grad():  # a step away from where λ makes two corners equally bad, and either may count
        predictor.relations += 0.05 * torch.randn(predictor.relations.shape, generator=torch.Generator().manual_seed(4))
    assert_same_gradients(predictor, groups, adversary, found)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("semantics", [kind() for kind in SEMANTICS.values()], ids=list(SEMANTICS))
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_gradients_on_sets_are_those_of_autograd(scorer, semantics, pooling):
    predictor, groups = random_predictor(scorer, Cube(), dim=6, seed=7), groups_of(*CLAUSES[:-1])
    adversary = GradientAscent(5, 3, pooling=pooling, semantics=semantics)
    found = adversary.find(predictor, groups, torch.Generator().manual_seed(3))
    assert_same_gradients(predictor, groups, adversary, found)


def assert_same_gradients(predictor, groups, adversary, found):
    """Weigh every clause differently, and start from a gradient that is not zero."""
    reference, kernels = (kind(adversary, predictor, groups) for kind in (ClauseLoss, KernelLoss))
    for loss in (reference, kernels):
        loss.adopt(found)
    inconsistency = reference()
    slopes = torch.arange(1.0, 1 + len(inconsistency))
    (gradient,) = torch.autograd.grad((slopes * inconsistency).sum(), predictor.relations)
    into = torch.ones_like(gradient)
    values = kernels.add_gradient(slopes, into)
    assert inconsistency.max() > 0
    torch.testing.assert_close([values, into - 1], [inconsistency.detach(), gradient], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("adversary", [GradientAscent(), ClosedForm()], ids=["gradient", "closed-form"])
def test_clauses_that_name_entities_are_left_to_autograd(adversary):
    predictor, groups = random_predictor("complex", Cube(), dim=6), groups_of(*CLAUSES)
    loss, into = KernelLoss(adversary, predictor, groups), torch.zeros(4, 6)
    loss.adopt(adversary.find(predictor, groups))
    assert loss.add_gradient(torch.ones(len(CLAUSES)), into) is None
    assert not into.any()


def test_nan_is_found_and_not_skipped():
    predictor, groups = random_predictor("complex", Cube(), dim=6), groups_of("p(X, Y) => q(Y, X)")
    predictor.relations.data[0, 0] = float("nan")
    adversary = GradientAscent(3)
    start = RealEntities(3).find(predictor, groups, torch.Generator().manual_seed(3))
    loss = KernelLoss(adversary, predictor, groups)
    loss.adopt(ascend_by_kernels(adversary, predictor, groups, start))
    inconsistency = loss()
    (gradient,) = torch.autograd.grad(inconsistency.sum(), predictor.relations)
    assert inconsistency.isnan().all()
    assert gradient.isnan().any()


def test_clauses_of_constants_alone_are_left_to_torch():
    predictor, groups = random_predictor("complex", Cube(), dim=6), groups_of("p(e1, e2)", "p(X, e1) => q(X, e2)")
    by_torch, by_kernels = both(predictor, groups)
    torch.testing.assert_close(by_kernels, by_torch)
