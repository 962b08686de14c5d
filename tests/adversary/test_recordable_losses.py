"""A loss in closed form can be recorded on a GPU: it waits for no result, and brings no numbers from the host."""

from __future__ import annotations

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from clausal.adversary import ClosedForm, GradientAscent
from clausal.model import Ball, Cube, Sphere
from random_models import groups_of, random_predictor

WAITING = {"_local_scalar_dense", "nonzero", "masked_select", "equal", "lift_fresh", "_to_copy", "_unique2"}
TEXTS = (
    "p(X,Y) => q(Y,X)",
    "p(X,Y), q(Y,Z) => r(X,Z)",
    "p(X,'e0'), q(X,Y) => r('e0',Y)",
    "p('e0','e1') => q('e0','e1')",
    "p(X,Y) => q(X,Y) ; r(Y,X)",
)


class Operations(TorchDispatchMode):
    """Notes the operations that would stop a recording; an index of truth values counts as ``nonzero``."""

    def __init__(self):
        super().__init__()
        self.found = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        masked = name == "index" and any(i is not None and i.dtype == torch.bool for i in args[1])
        self.found |= {"nonzero"} if masked else {name} & WAITING
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("region", ["domain", "hull", "discs"])
@pytest.mark.parametrize(
    ("scorer", "domain"),
    [
        ("distmult", Cube()),
        ("complex", Cube()),
        ("complex", Sphere()),
        ("distmult", Ball()),
        ("transe", Sphere()),
        ("rotate", Cube()),
    ],
    ids=str,
)
def test_the_loss_and_its_gradient_wait_for_nothing(scorer, domain, region):
    predictor = random_predictor(scorer, domain)
    adversary = ClosedForm(region=region)
    groups = [group for group in groups_of(*TEXTS) if adversary.treats(predictor, group)]
    assert len(groups) >= 4
    kept = adversary.find(predictor, groups)
    adversary.inconsistency(predictor, groups, kept)  # forms travel to a device once
    with Operations() as operations:
        adversary.inconsistency(predictor, groups, kept).sum().backward()
    assert not operations.found


def test_the_violation_of_vectors_waits_for_nothing():
    predictor, groups, adversary = random_predictor("complex"), groups_of(*TEXTS), GradientAscent()
    found = adversary.find(predictor, groups)
    with Operations() as operations:
        adversary.inconsistency(predictor, groups, found).sum().backward()
    assert not operations.found


@pytest.mark.parametrize("wait", [lambda x: x.any().item(), lambda x: x[x > 0], lambda x: x.to(torch.float64)])
def test_waiting_is_noticed(wait):
    with Operations() as operations:
        wait(torch.ones(3))
    assert operations.found
