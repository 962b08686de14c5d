"""``check_adversary`` passes every adversary of this library, and says what is wrong with a broken one."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from clausal.adversary import (
    ClosedForm,
    GradientAscent,
    GroundedClauses,
    GroupSet,
    RealEntities,
    Vectors,
    check_adversary,
)
from clausal.adversary.adversary import from_tensors, to_tensors
from clausal.model import ContractError, Cube, Sphere
from random_models import groups_of, random_predictor

ADVERSARIES = {
    "gradient": GradientAscent(sets=3, steps=2),
    "entities": RealEntities(sets=3),
    "grounded": GroundedClauses(torch.tensor([[0, 0, 1], [2, 1, 3], [4, 0, 5]]), sets=3),
    "closed form": ClosedForm(),
    "closed form with a fallback": ClosedForm(GradientAscent(sets=3, steps=2)),
}


@pytest.mark.parametrize("name", ADVERSARIES)
def test_every_adversary_keeps_the_contract(name):
    check_adversary(ADVERSARIES[name])


@pytest.mark.parametrize("name", ADVERSARIES)
def test_it_is_kept_on_a_model_and_clauses_that_are_given(name):
    groups = groups_of("p(X,Y) => q(X,Y)", "p(X,Y), q(Y,Z) => r(X,Z)")
    check_adversary(ADVERSARIES[name], random_predictor("distmult", Sphere(), dim=4), groups)


class MovesTheModel(RealEntities):
    def find(self, predictor, groups, generator=None):
        predictor.relations.data += 1
        return super().find(predictor, groups, generator)


class TooFewSets(RealEntities):
    def find(self, predictor, groups, generator=None):
        return super().find(predictor, groups, generator)[:-1]


class Tensors(RealEntities):
    def find(self, predictor, groups, generator=None):
        return [found.vectors for found in super().find(predictor, groups, generator)]


class NotFinite(RealEntities):
    def find(self, predictor, groups, generator=None):
        return [Vectors(found.vectors / 0) for found in super().find(predictor, groups, generator)]


class StillAttached(RealEntities):
    def find(self, predictor, groups, generator=None):
        return [Vectors(found.vectors.requires_grad_()) for found in super().find(predictor, groups, generator)]


class ItsOwnRandomness(RealEntities):
    def find(self, predictor, groups, generator=None):
        return super().find(predictor, groups, None)


class OneNumber(RealEntities):
    def inconsistency(self, predictor, groups, adversarial_set):
        return super().inconsistency(predictor, groups, adversarial_set).sum()


class Negative(RealEntities):
    def inconsistency(self, predictor, groups, adversarial_set):
        return super().inconsistency(predictor, groups, adversarial_set) - 1


class NothingToLearn(RealEntities):
    def inconsistency(self, predictor, groups, adversarial_set):
        return super().inconsistency(predictor, groups, adversarial_set).detach()


class DependsOnOtherGroups(RealEntities):
    def inconsistency(self, predictor, groups, adversarial_set):
        return super().inconsistency(predictor, groups, adversarial_set) * len(groups)


@dataclass(frozen=True, eq=False)
class Forgetful(GroupSet):
    """Loses half of its vectors when it is saved."""

    vectors: Tensor

    def tensors(self):
        return {"vectors": self.vectors[:, :1]}


class CannotBeSaved(RealEntities):
    def find(self, predictor, groups, generator=None):
        return [Forgetful(found.vectors) for found in super().find(predictor, groups, generator)]

    def inconsistency(self, predictor, groups, adversarial_set):
        return super().inconsistency(predictor, groups, [Vectors(found.vectors) for found in adversarial_set])


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (MovesTheModel, "find changed the parameters of the model"),
        (TooFewSets, "find must return a GroupSet for each of the 4 groups; got 3 sets"),
        (Tensors, "find must return GroupSets, such as Vectors; got Tensor"),
        (NotFinite, r"Vectors\.vectors has values that are not finite"),
        (StillAttached, r"Vectors\.vectors must be detached"),
        (ItsOwnRandomness, "find must draw from the generator alone"),
        (OneNumber, r"inconsistency must have shape \[5\], one number for each clause; got \[\]"),
        (Negative, "inconsistency must be finite and not negative"),
        (NothingToLearn, "inconsistency has no gradient"),
        (DependsOnOtherGroups, "inconsistency of groups one by one and together must agree"),
        (CannotBeSaved, "inconsistency on a set that was saved and restored must agree"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_adversary_is_told_what_is_wrong(broken, message):
    with pytest.raises(ContractError, match=message):
        check_adversary(broken(sets=3))


def test_what_is_no_adversary_is_refused():
    with pytest.raises(ContractError, match=r"must be a subclass of clausal\.Adversary"):
        check_adversary(object())


@pytest.mark.parametrize("name", ADVERSARIES)
def test_a_set_comes_back_from_its_tensors(name):
    groups = groups_of("p(X,Y) => q(X,Y)", "p(X,Y), q(Y,Z) => r(X,Z)", "p('e0','e1') => q('e0','e1')")
    found = ADVERSARIES[name].find(random_predictor("complex", Cube()), groups, torch.Generator().manual_seed(0))
    again = from_tensors(to_tensors(found))
    assert [type(one) for one in again] == [type(one) for one in found]
    for one, other in zip(found, again, strict=True):
        for (name, tensor), same in zip(one.tensors().items(), other.tensors().values(), strict=True):
            assert torch.equal(tensor, same), name
