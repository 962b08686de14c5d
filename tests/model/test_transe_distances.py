"""TransE scores all candidates by a matrix product, and small distances are right all the same."""

from __future__ import annotations

import pytest
import torch

from clausal.model.scorers import TransE
from clausal.model.scorers.transe import squared_distances


def close_candidates(dim=20, count=40, seed=0):
    """A point of length about 4, and candidates at distances from 1e-6 to 1 from it, in single precision."""
    generator = torch.Generator().manual_seed(seed)
    point = torch.randn(1, dim, generator=generator)
    directions = torch.nn.functional.normalize(torch.randn(count, dim, generator=generator), dim=1)
    return point, point + torch.logspace(-6, 0, count).unsqueeze(1) * directions


def exact(points, candidates):
    """Distances in double precision, of the vectors as they are in single precision."""
    return (points.double().unsqueeze(1) - candidates.double()).norm(dim=-1)


@pytest.mark.parametrize("norm", ["l2", "l2-squared"])
def test_small_distances_to_all_candidates_are_those_of_double_precision(norm):
    point, candidates = close_candidates()
    scorer, nothing = TransE(20, norm), torch.zeros(1, 20)
    power = 2 if norm == "l2-squared" else 1
    expected = -(exact(point, candidates) ** power)
    as_object = scorer.score_objects(subject=point, relation=nothing, candidates=candidates)
    as_subject = scorer.score_subjects(candidates=candidates, relation=nothing, object=point)
    torch.testing.assert_close(as_object.double(), expected, rtol=1e-3, atol=0)
    torch.testing.assert_close(as_subject.double(), expected, rtol=1e-3, atol=0)


def test_candidates_at_distances_that_differ_do_not_tie():
    point, candidates = close_candidates()
    scores = TransE(20, "l2").score_objects(subject=point, relation=torch.zeros(1, 20), candidates=candidates)
    assert len(scores.unique()) == len(candidates)
    assert scores.argsort(descending=True).equal(exact(point, candidates).argsort())


@pytest.mark.parametrize("points", [1, 3, 50])
def test_usual_distances_and_equal_points_are_right_too(points):
    generator = torch.Generator().manual_seed(1)
    candidates = torch.randn(30, 8, generator=generator)
    queries = torch.cat([candidates[:1], torch.randn(points, 8, generator=generator), torch.zeros(1, 8)])
    candidates = torch.cat([candidates, torch.zeros(1, 8)])
    found = squared_distances(queries, candidates)
    assert found[0, 0] == found[-1, -1] == 0
    torch.testing.assert_close(found.double(), exact(queries, candidates) ** 2, rtol=1e-3, atol=0)


def test_many_close_pairs_are_computed_some_at_a_time(monkeypatch):
    monkeypatch.setattr("clausal.model.scorers.transe.BROADCAST_LIMIT", 64)
    points = 3 + 1e-3 * torch.randn(7, 16, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(
        squared_distances(points, points).double(), exact(points, points) ** 2, rtol=1e-5, atol=0
    )


def test_small_distances_have_the_gradient_of_the_distance():
    point, candidates = close_candidates()
    candidates = candidates.requires_grad_()
    TransE(20, "l2").score_objects(subject=point, relation=torch.zeros(1, 20), candidates=candidates).sum().backward()
    difference = point.double() - candidates.detach().double()
    torch.testing.assert_close(
        candidates.grad.double(), difference / difference.norm(dim=1, keepdim=True), rtol=0, atol=2e-3
    )
