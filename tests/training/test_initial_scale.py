"""Initial vectors can be made smaller, from the same random numbers."""

from __future__ import annotations

import torch

from clausal import Graph
from clausal.config import Settings
from clausal.model.build import make_predictor

GRAPH = Graph.from_triples([("a", "r", "b"), ("b", "s", "c")])


def predictor_of(**model):
    return make_predictor(GRAPH, Settings.from_mapping({"model": {"dim": 4, "domain": "none"} | model}))


def test_entities_and_relations_start_as_a_multiple_of_xaviers():
    plain, small = predictor_of(), predictor_of(initial_scale=0.1)
    torch.testing.assert_close(small.encode_all(), 0.1 * plain.encode_all())
    torch.testing.assert_close(small.relations, 0.1 * plain.relations)


def test_entities_are_still_in_the_domain():
    sphere = predictor_of(domain="sphere", initial_scale=0.1)
    torch.testing.assert_close(sphere.encode_all().norm(dim=1), torch.ones(3))
