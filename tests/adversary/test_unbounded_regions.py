"""Where vectors may be anywhere, adversaries live in the hull of the entities as they are."""

from __future__ import annotations

import pytest
import torch

from clausal.adversary import ClosedForm, GradientAscent, RealEntities
from clausal.adversary.regions import region_of, resolved
from clausal.bounds.regions import Boxes, Discs
from clausal.model import Cube, Sphere, Unbounded
from random_models import groups_of, random_predictor

TEXTS = ("p(X,Y) => q(X,Y)", "p(X,Y), q(Y,Z) => r(X,Z)", "s(X,'e1') => p('e1',X)")


@pytest.mark.parametrize("domain", [Cube(), Sphere()], ids=repr)
def test_a_bounded_domain_is_the_region(domain):
    assert resolved("auto", random_predictor("complex", domain)) == "domain"


@pytest.mark.parametrize(("scorer", "region"), [("complex", Discs), ("rotate", Discs), ("hole", Discs)])
def test_complex_numbers_range_over_discs(scorer, region):
    predictor = random_predictor(scorer, Unbounded())
    assert isinstance(region_of(predictor, groups_of(TEXTS[0])[0], "auto"), region)


@pytest.mark.parametrize("scorer", ["distmult", "simple", "transe", "rescal", "er-mlp"])
def test_other_numbers_range_over_the_box_of_the_entities(scorer):
    predictor = random_predictor(scorer, Unbounded())
    assert isinstance(region_of(predictor, groups_of(TEXTS[0])[0], "auto"), Boxes)


@pytest.mark.parametrize("scorer", ["complex", "distmult", "simple", "hole"])
def test_gradient_ascent_stays_in_the_hull(scorer):
    predictor = random_predictor(scorer, Unbounded(), dim=6)
    groups = groups_of(*TEXTS)
    ascent = {"sets": 8, "steps": 200, "learning_rate": 0.5}
    found = GradientAscent(**ascent, region="auto").find(predictor, groups, torch.Generator().manual_seed(0))
    entities = predictor.scorer.components(predictor.encode_all())
    for one in found:
        components = predictor.scorer.components(one.vectors)
        if predictor.scorer.complex_numbers:
            assert (components.norm(dim=-1) <= entities.norm(dim=-1).amax(0) + 1e-5).all()
        else:
            assert ((components >= entities.amin(0) - 1e-5) & (components <= entities.amax(0) + 1e-5)).all()
    away = GradientAscent(**ascent).find(predictor, groups, torch.Generator().manual_seed(0))
    assert away[0].vectors.abs().max() > 2 * found[0].vectors.abs().max()  # without a region they run off


@pytest.mark.parametrize("scorer", ["complex", "distmult"])
def test_closed_forms_bound_what_ascent_finds_there(scorer):
    predictor, groups = random_predictor(scorer, Unbounded(), dim=6, seed=2), groups_of(*TEXTS)
    ascent, bounds = GradientAscent(50, 100, region="auto"), ClosedForm(region="auto")
    assert all(bounds.treats(predictor, group) for group in groups)
    found = ascent.find(predictor, groups, torch.Generator().manual_seed(0))
    reached = RealEntities(50, "max").inconsistency(predictor, groups, found)
    largest = bounds.inconsistency(predictor, groups, bounds.find(predictor, groups))
    assert (largest >= reached - 1e-4).all()
    assert (reached >= 0.7 * largest).all()


def test_limits_follow_the_entities_at_each_search():
    predictor, groups = random_predictor("complex", Unbounded(), dim=6), groups_of(TEXTS[0])
    bounds = ClosedForm(region="auto")
    kept = bounds.find(predictor, groups)
    before = bounds.inconsistency(predictor, groups, kept)
    predictor.encoder.weight.data *= 2
    torch.testing.assert_close(bounds.inconsistency(predictor, groups, kept), before)
    torch.testing.assert_close(bounds.inconsistency(predictor, groups, bounds.find(predictor, groups)), 4 * before)
