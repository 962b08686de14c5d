"""Certificates hold: what is attained is a violation in the region, and no vector of the region exceeds the bound."""

from __future__ import annotations

import pytest
import torch

from clausal.adversary import GradientAscent, certify
from clausal.adversary.regions import region_of
from clausal.adversary.semantics import Godel, Product, Sum, Threshold
from clausal.evaluation.entities import check_entities
from clausal.model import SCORERS, Cube, Sphere
from clausal.model.scorers import TransE
from random_models import groups_of, random_predictor

TEXTS = (
    "p(X,Y) => q(X,Y)",
    "r(X,Y) => s(X,Y)",
    "p(X,Y), q(Y,Z) => r(X,Z)",
    "p(X,'e1') => q('e2',X)",
    "p(X,Y) | q(X,Y) => r(Y,X)",
    "p(X,Y) <=> q(X,Y)",
    "p('e0','e1') => q('e0','e1')",
    "false => p(X,Y)",
)
FACTS = torch.tensor([[0, 0, 1], [2, 0, 3], [1, 1, 4], [4, 2, 5]])


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize(
    ("domain", "region"),
    [(Sphere(), "domain"), (Cube(), "domain"), (Cube(), "hull"), (Cube(), "discs"), (Cube(), "roles")],
    ids=str,
)
def test_attained_is_attained_and_random_points_stay_below_the_bound(scorer, domain, region):
    predictor = random_predictor(scorer, domain, seed=3, dtype=torch.float64)
    groups = groups_of(*TEXTS)
    found = certify(predictor, groups, region=region, facts=FACTS, ascent=GradientAscent(sets=3, steps=3))
    for group, certificate in zip(groups, found, strict=True):
        assert (certificate.attained <= certificate.bound).all()
        again = group.violation(predictor, Godel(), certificate.vectors.unsqueeze(1)).squeeze(1)
        torch.testing.assert_close(again, certificate.attained, rtol=0, atol=1e-9, check_dtype=False)
        place = region_of(predictor, group, region, FACTS)
        free = certificate.vectors.shape[1]
        if place is None or not free:
            continue
        points = predictor.scorer.components(certificate.vectors.unsqueeze(1))
        torch.testing.assert_close(place.project(points), points, rtol=0, atol=1e-9)
        drawn = 2 * torch.rand(len(group.clauses), 200, *points.shape[2:], dtype=torch.float64) - 0.5
        violations = group.violation(predictor, Godel(), predictor.scorer.join(place.project(drawn)))
        assert (violations.amax(1) <= certificate.bound + 1e-9).all()


@pytest.mark.parametrize("semantics", [Godel(), Sum(), Threshold(0.5, 0.2)], ids=lambda one: one.name)
def test_every_linear_semantics_is_certified(semantics):
    predictor = random_predictor("complex", Cube(), dim=10, seed=1)
    groups = groups_of(*TEXTS)
    for certificate in certify(predictor, groups, semantics=semantics):
        assert certificate.bound.isfinite().all()
        assert (certificate.gap < 0.1).all()
        assert certificate.bound.dtype == torch.float64


def test_one_atom_is_exact_and_several_say_so():
    predictor = random_predictor("complex", Cube(), dim=20, seed=1)
    one, several, never = certify(predictor, groups_of(TEXTS[0], TEXTS[2], TEXTS[7]))
    assert (one.method, one.exact, one.gap.tolist()) == ("closed form", True, [0.0])
    assert several.method == "dual bound"
    assert never.bound.tolist() == never.attained.tolist() == [0.0]
    assert never.gap.tolist() == [0.0]


def test_truth_values_have_an_attained_violation_alone():
    (certificate,) = certify(random_predictor("complex", Cube()), groups_of(TEXTS[0]), semantics=Product())
    assert certificate.bound.tolist() == [torch.inf]
    assert certificate.method == "gradient ascent"
    assert 0 < certificate.attained.item() < 1


def test_certifying_changes_nothing_and_repeats():
    predictor = random_predictor("transe", Sphere())
    before = [parameter.clone() for parameter in predictor.parameters()]
    first, second = (certify(predictor, groups_of(*TEXTS), seed=4) for _ in range(2))
    assert all(torch.equal(one.attained, other.attained) for one, other in zip(first, second, strict=True))
    assert all(torch.equal(one, other) for one, other in zip(before, predictor.parameters(), strict=True))
    assert all(parameter.requires_grad for parameter in predictor.parameters())


def test_a_search_leaves_the_side_where_a_clause_holds():
    """TransE in L2 on the sphere: ‖r‖ − ‖x + r − y‖ is negative for most pairs, and ‖r‖ where y = x + r."""
    predictor = random_predictor("transe", Sphere(), dim=20, seed=3, dtype=torch.float64)
    predictor.scorer = TransE(20, "l2")
    predictor.relations.data[0] *= 0.637 / predictor.relations.data[0].norm()
    (certificate,) = certify(predictor, groups_of("p(X,Y) => p(X,X)"))
    assert certificate.bound.item() == pytest.approx(0.637)
    assert certificate.attained.item() == pytest.approx(0.637, rel=0.01)


@pytest.mark.parametrize("norm", ["l1", "l2", "l2-squared"])
@pytest.mark.parametrize("text", ["p(X,Y) => p(X,X)", "p(X,Y), q(Y,Z) => r(X,Z)", "p(X,Y) => q(X,'e3')"])
def test_attained_is_no_less_than_what_entities_reach(norm, text):
    predictor = random_predictor("transe", Sphere(), dim=30, seed=1, dtype=torch.float64)
    predictor.scorer = TransE(30, norm)
    groups = groups_of(text)
    (check,) = check_entities(predictor, groups)
    assert check.largest > 0
    starts = [torch.tensor([*check.worst.values()]).view(1, 1, -1)]
    # One step from one start: what is attained comes from the entities, or is better.
    (certificate,) = certify(predictor, groups, starts=starts, ascent=GradientAscent(sets=1, steps=1))
    # The entities of this model have length 1 in single precision.
    assert check.largest <= certificate.attained.item() + 1e-6 <= certificate.bound.item() + 2e-6
