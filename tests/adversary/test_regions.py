"""Regions hold the vectors they are made for: the domain, all entities, or the entities in a variable's places."""

from __future__ import annotations

import pytest
import torch

from clausal.adversary.regions import region_of
from clausal.bounds.regions import Balls, Boxes, Discs
from clausal.errors import InputError
from clausal.model import SCORERS, Ball, Box, Cube, Sphere, Unbounded
from random_models import groups_of, random_predictor

FACTS = torch.tensor([[0, 0, 1], [2, 0, 3], [1, 1, 4], [4, 1, 5], [0, 2, 5]])


def components(predictor):
    return predictor.scorer.components(predictor.encode_all()).detach()


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("domain", [Sphere(), Ball(), Cube(), Box(-0.5, 0.25)], ids=repr)
@pytest.mark.parametrize("name", ["domain", "hull", "discs", "roles"])
def test_entities_are_in_the_regions_of_all_entities(scorer, domain, name):
    predictor = random_predictor(scorer, domain, dim=6, dtype=torch.float64)
    (group,) = groups_of("p(X,Y), q(Y,'e3') => r(X,'e3')")
    region = region_of(predictor, group, name, FACTS)
    if scorer == "hole" and name == "domain" and isinstance(domain, Box):
        assert region is None  # HolE's components are no numbers of its vectors
        return
    free = group.shape.variables if not predictor.of_pairs else 3
    points = components(predictor).unsqueeze(1).expand(-1, free if name != "roles" else 0, -1, -1).unsqueeze(0)
    if name != "roles" and scorer != "model-f":
        torch.testing.assert_close(region.project(points), points, rtol=0, atol=1e-6)


@pytest.mark.parametrize("domain", [Cube(), Sphere()], ids=repr)
def test_constants_stay_where_they_are(domain):
    predictor = random_predictor("complex", domain, dtype=torch.float64)
    (group,) = groups_of("p(X,'e3') => q('e1',X)")
    expected = components(predictor)[[3, 1]]
    region = region_of(predictor, group)
    fixed = region.fixed[0] if isinstance(region, Balls) else region.low[0, 1:]
    assert torch.equal(fixed, expected)
    if isinstance(region, Boxes):
        assert torch.equal(region.high[0, 1:], expected)


def test_hull_and_discs_touch_the_outermost_entities():
    predictor = random_predictor("complex", Cube(), dim=6, dtype=torch.float64)
    (group,) = groups_of("p(X,Y) => q(X,Y)")
    hull, discs = region_of(predictor, group, "hull"), region_of(predictor, group, "discs")
    assert torch.equal(hull.low[0, 0], components(predictor).amin(0))
    assert torch.equal(hull.high[0, 1], components(predictor).amax(0))
    assert isinstance(discs, Discs)
    real, imag = predictor.encode_all().chunk(2, -1)
    torch.testing.assert_close(discs.radius[0, 1], torch.complex(real, imag).abs().amax(0))


def test_roles_are_the_boxes_of_what_stands_in_a_variables_places():
    predictor = random_predictor("distmult", Cube(), dim=3, dtype=torch.float64)
    (group,) = groups_of("p(X,Y), q(Y,Z) => r(X,Z)")
    region = region_of(predictor, group, "roles", FACTS)
    vectors = components(predictor)
    x, y_as_object, y_as_subject = vectors[[0, 2]], vectors[[1, 3]], vectors[[1, 4]]
    assert torch.equal(region.low[0, 0], x.amin(0))
    assert torch.equal(region.high[0, 0], x.amax(0))
    low = torch.maximum(y_as_object.amin(0), y_as_subject.amin(0))
    high = torch.minimum(y_as_object.amax(0), y_as_subject.amax(0))
    assert torch.equal(region.low[0, 1], torch.minimum(low, high))  # entity 1 has both roles: the boxes meet
    assert torch.equal(region.high[0, 1], torch.maximum(low, high))


def test_a_relation_without_facts_says_nothing_of_its_variables():
    predictor = random_predictor("distmult", Cube(), dim=3, dtype=torch.float64)
    (group,) = groups_of("s(X,Y) => p(X,Y)")
    roles, hull = region_of(predictor, group, "roles", FACTS), region_of(predictor, group, "hull")
    assert torch.equal(roles.low, hull.low)
    assert torch.equal(roles.high, hull.high)


def test_roles_of_model_f_are_of_pairs():
    predictor = random_predictor("model-f", Cube(), dim=3, dtype=torch.float64)
    (group,) = groups_of("p(X,Y) => q(X,Y)")
    facts = torch.tensor([[0, 0, 0], [0, 0, 2], [0, 1, 4]])  # pairs that have vectors
    region = region_of(predictor, group, "roles", facts)
    pairs = predictor.pair_vectors(facts[:2, 0], facts[:2, 2]).detach()
    assert torch.equal(region.low[0, 0].squeeze(-1), pairs.amin(0))


def test_everywhere_is_no_region_and_roles_need_facts():
    (group,) = groups_of("p(X,Y) => q(X,Y)")
    assert region_of(random_predictor("complex", Unbounded()), group) is None
    with pytest.raises(InputError, match="needs the train facts"):
        region_of(random_predictor("complex", Cube()), group, "roles")
