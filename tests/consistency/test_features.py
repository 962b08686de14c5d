"""What an adversarial set is scored by while it is constant gives the numbers of the set itself."""

import pytest
import torch
from random_models import groups_of, random_predictor

from clausal.consistency import GradientAscent
from clausal.consistency.pooling import POOLINGS
from clausal.model import SCORERS
from clausal.model.domains import Cube

CLAUSES = ("p(X, Y) => q(Y, X)", "p(X, Y), q(Y, Z) => r(X, Z)", "p(X, X) => q(X, X)", "p(X, Y), ~q(Y, X) => r(X, Y)")


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("scorer", [name for name, kind in SCORERS.items() if kind.terms is not None])
def test_features_have_the_violations_and_gradients_of_the_vectors(scorer, pooling):
    predictor, groups = random_predictor(scorer, Cube(), seed=6), groups_of(*CLAUSES)
    adversary = GradientAscent(sets=5, steps=3, pooling=pooling)
    found = adversary.find(predictor, groups, torch.Generator().manual_seed(3))
    constants = adversary.while_constant(predictor, groups, found)
    results = []
    for inconsistency in (
        adversary.inconsistency(predictor, groups, found),
        adversary.constant_inconsistency(predictor, groups, constants),
    ):
        results.append([inconsistency, *torch.autograd.grad(inconsistency.sum(), predictor.relations)])
    assert results[0][0].max() > 0
    torch.testing.assert_close(results[0], results[1])
