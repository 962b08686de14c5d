"""Features that are computed once per search give the losses and gradients of the set itself."""

import pytest
import torch

from clausal.adversary import ClosedForm, GradientAscent
from clausal.adversary.semantics import POOLINGS, Godel, Threshold
from clausal.fast.clauses import KernelLoss
from clausal.fast.features import FeatureLoss
from clausal.model import SCORERS
from clausal.model.domains import Box, Cube, Sphere
from clausal.training.objective import ClauseLoss
from random_models import groups_of, random_predictor

TRILINEAR = [name for name, kind in SCORERS.items() if kind.terms is not None]
CLAUSES = ("p(X, Y) => q(Y, X)", "p(X, Y), q(Y, Z) => r(X, Z)", "p(X, X) => q(X, X)", "p(X, Y), ~q(Y, X) => r(X, Y)")


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_features_have_the_violations_and_gradients_of_the_vectors(scorer, pooling):
    predictor, groups = random_predictor(scorer, Cube(), seed=6), groups_of(*CLAUSES)
    adversary = GradientAscent(sets=5, steps=3, pooling=pooling)
    found = adversary.find(predictor, groups, torch.Generator().manual_seed(3))
    assert_same_losses(predictor, adversary, groups, adopted(predictor, adversary, groups, found))


@pytest.mark.parametrize("region", ["domain", "hull"])
@pytest.mark.parametrize("semantics", [Godel(), Threshold(0.1, 0.2)], ids=["godel", "threshold"])
@pytest.mark.parametrize("domain", [Cube(), Box(-0.5, 2.0), Sphere()], ids=repr)
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_features_of_corners_have_the_bounds_and_gradients_of_the_closed_form(scorer, domain, semantics, region):
    predictor, groups = random_predictor(scorer, domain, seed=7), groups_of(*CLAUSES, "p(X, Y) => q(X, Y) & r(Y, X)")
    adversary = ClosedForm(GradientAscent(sets=2, semantics=semantics), semantics, region)
    found = adversary.find(predictor, groups, torch.Generator().manual_seed(3))
    losses = adopted(predictor, adversary, groups, found)
    with torch.no_grad():  # a step away from where λ makes two corners equally bad, and either may count
        predictor.relations += 0.05 * torch.randn(predictor.relations.shape, generator=torch.Generator().manual_seed(4))
    assert_same_losses(predictor, adversary, groups, losses)


def adopted(predictor, adversary, groups, found):
    """The reference and the features, both with the same set."""
    losses = [kind(adversary, predictor, groups) for kind in (ClauseLoss, FeatureLoss)]
    for loss in losses:
        loss.adopt(found)
    return losses


def assert_same_losses(predictor, adversary, groups, losses):
    results = []
    for loss in losses:
        inconsistency = loss()
        results.append([inconsistency, *torch.autograd.grad(inconsistency.sum(), predictor.relations)])
    assert results[0][0].max() > 0
    torch.testing.assert_close(results[0], results[1])


def test_the_next_set_is_read_where_the_last_one_lay():
    predictor, groups = random_predictor("complex", Cube(), seed=6), groups_of(*CLAUSES)
    adversary = GradientAscent(sets=5, steps=3)
    loss = FeatureLoss(adversary, predictor, groups)
    addresses, values = [], []
    for seed in range(2):
        loss.adopt(adversary.find(predictor, groups, torch.Generator().manual_seed(seed)))
        addresses.append([one.data_ptr() for one in loss._prepared])
        values.append(loss())
    assert addresses[0] == addresses[1]
    assert not torch.equal(*values)


@pytest.mark.parametrize("kind", [FeatureLoss, KernelLoss])
def test_a_set_without_tensors_is_adopted_too(kind):
    predictor, groups = random_predictor("distmult", Sphere(), seed=6), groups_of("p(X, Y) => q(X, Y)")
    adversary = ClosedForm()
    reference, loss = ClauseLoss(adversary, predictor, groups), kind(adversary, predictor, groups)
    for _ in range(2):
        for one in (reference, loss):
            one.adopt(adversary.find(predictor, groups))
        torch.testing.assert_close(loss(), reference())
