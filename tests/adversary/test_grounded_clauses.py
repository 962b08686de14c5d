"""Grounded clauses stand on real entities, every second time on those of a fact, and these learn from them."""

from __future__ import annotations

import pytest
import torch

from clausal.adversary import SEMANTICS, GroundedClauses
from clausal.config import Settings
from clausal.errors import InputError
from clausal.graph import Graph
from clausal.logic import parse_clauses
from clausal.model import Cube, Sphere
from clausal.training import prepare
from random_models import groups_of, random_predictor

FACTS = torch.tensor([[0, 0, 1], [2, 0, 3], [4, 1, 5], [1, 1, 0]])


def drawn(text, sets=400, facts=FACTS):
    predictor, groups = random_predictor("complex", Cube(), dim=4), groups_of(text)
    (found,) = GroundedClauses(facts, sets).find(predictor, groups, torch.Generator().manual_seed(0))
    return found.entities[0]


def test_every_second_grounding_begins_from_a_fact_of_the_body_and_the_others_from_anywhere():
    entities = drawn("p(X, Y) => q(X, Y)")
    first, others = ({tuple(pair) for pair in entities[start::2].tolist()} for start in (0, 1))
    assert first == {(0, 1), (2, 3)}
    assert len(others) > 30


def test_either_atom_of_a_body_can_be_the_fact():
    x, y, z = drawn("p(X, Y), q(Y, Z) => r(X, Z)")[::2].unbind(1)
    p, q = ((x == 0) & (y == 1)) | ((x == 2) & (y == 3)), ((y == 4) & (z == 5)) | ((y == 1) & (z == 0))
    assert (p | q).all()
    assert p.any()
    assert q.any()


@pytest.mark.parametrize(("text", "facts"), [("r(X, Y) => q(X, Y)", FACTS), ("p(X, Y) | q(X, Y)", FACTS[:0])])
def test_without_facts_of_the_body_entities_are_random(text, facts):
    assert len({tuple(pair) for pair in drawn(text, facts=facts).tolist()}) > 30


@pytest.mark.parametrize("semantics", ["godel", "product"])
def test_the_loss_is_that_of_the_ground_clause_and_reaches_its_entities_alone(semantics):
    predictor, groups = random_predictor("distmult", Sphere(), dim=4, seed=2), groups_of("p(X, Y) => q(Y, X)")
    adversary = GroundedClauses(FACTS, 2, semantics=SEMANTICS[semantics]())
    found = adversary.find(predictor, groups, torch.Generator().manual_seed(0))
    loss = adversary.inconsistency(predictor, groups, found)
    expected = 0.0
    for x, y in found[0].entities[0].tolist():
        body, head = (predictor.score(*map(torch.tensor, fact)) for fact in ((x, 0, y), (y, 1, x)))
        godel = (body - head).relu()
        expected += godel if semantics == "godel" else body.sigmoid() * (1 - head.sigmoid())
    torch.testing.assert_close(loss[0], expected)
    (gradient,) = torch.autograd.grad(loss.sum(), predictor.encoder.weight)
    moved = set(gradient.abs().sum(1).nonzero().flatten().tolist())
    assert moved
    assert moved <= set(found[0].entities.flatten().tolist())


def test_a_training_with_grounded_clauses_moves_entities_that_no_fact_has():
    graph = Graph.from_triples([(f"e{i}", "p", f"e{i + 1}") for i in range(6)] + [("a", "q", "b")])
    clauses, vectors = parse_clauses("p(X, Y) => q(X, Y)"), []
    for weight in (0.0, 1.0):
        settings = {
            "model": {"scorer": "distmult", "dim": 6},
            "facts": {"margin": 0.0},
            "clauses": {"adversary": "grounded", "semantics": "product", "weight": weight},
            "train": {"epochs": 2, "passes": 1, "device": "cpu"},
            "evaluate": {"every": 0},
        }
        vectors.append(prepare(graph, clauses, Settings.from_mapping(settings)).run().encode_all().detach())
    assert (vectors[0] - vectors[1]).abs().sum(1).min() > 0


def test_models_of_pairs_are_refused():
    with pytest.raises(InputError, match="grounded clauses are for models with a vector for each entity"):
        GroundedClauses(FACTS).find(random_predictor("model-f"), groups_of("p(X, Y) => q(X, Y)"))
