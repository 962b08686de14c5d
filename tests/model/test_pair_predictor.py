"""Model F: three ways to score agree with each other and with a plain table of pairs; unknown pairs score 0."""

from __future__ import annotations

import itertools

import pytest
import torch

from clausal.config import ModelSettings
from clausal.errors import InputError
from clausal.model import Cube, Negatives, PairPredictor
from clausal.model.build import build_predictor
from clausal.model.encoders import Table
from clausal.model.scorers import ModelF

ENTITIES, RELATIONS = 6, 3
PAIRS = torch.tensor([[4, 1], [0, 5], [0, 2], [3, 3], [5, 0], [0, 5], [2, 5]], dtype=torch.int32)


@pytest.fixture
def predictor():
    torch.manual_seed(0)
    return PairPredictor(PAIRS, ModelF(4), num_entities=ENTITIES, num_relations=RELATIONS, domain=Cube())


@pytest.fixture
def expected(predictor):
    """Scores [subjects, relations, objects] from a dictionary of pairs, numbered in the order of their names."""
    scores = torch.zeros(ENTITIES, RELATIONS, ENTITIES)
    known = sorted({tuple(pair) for pair in PAIRS.tolist()})
    for row, (subject, object) in enumerate(known):
        for relation in range(RELATIONS):
            products = predictor.relations[relation] * predictor.encoder.weight[row]
            scores[subject, relation, object] = products.sum().item()
    return scores


def test_a_known_pair_scores_by_its_vector_and_an_unknown_pair_scores_zero(predictor, expected):
    ids = torch.tensor(list(itertools.product(range(ENTITIES), range(RELATIONS), range(ENTITIES))))
    scores = predictor.score(*ids.unbind(1)).detach()
    torch.testing.assert_close(scores.reshape(expected.shape), expected)
    unknown = expected[1, 0, 4]
    assert unknown == 0
    assert (expected != 0).sum() == 6 * RELATIONS


def test_all_objects_and_all_subjects_score_as_single_facts_do(predictor, expected):
    ids = torch.tensor(list(itertools.product(range(ENTITIES), range(RELATIONS))))
    entity, relation = ids.unbind(1)
    torch.testing.assert_close(predictor.score_objects(entity, relation).detach(), expected[entity, relation])
    torch.testing.assert_close(predictor.score_subjects(relation, entity).detach(), expected[:, relation, entity].T)


def test_all_relations_score_as_single_facts_do(predictor, expected):
    subjects, objects = torch.tensor([0, 1, 5]), torch.tensor([5, 1, 0])
    torch.testing.assert_close(predictor.score_relations(subjects, objects).detach(), expected[subjects, :, objects])


def test_corruptions_are_other_known_pairs(predictor):
    facts = torch.tensor([[0, 1, 5], [4, 2, 1]])
    negatives = Negatives(torch.tensor([[0, 3]]), torch.tensor([[5, 1]]))
    positive, negative = predictor.score_corrupted(facts, negatives)
    torch.testing.assert_close(positive, predictor.score(*facts.unbind(1)))
    pairs = predictor.pairs[torch.tensor([[0, 3], [5, 1]])]
    torch.testing.assert_close(negative, predictor.score(pairs // ENTITIES, facts[:, 1], pairs % ENTITIES))
    assert predictor.num_candidates == 6


def test_the_pair_table_is_projected_onto_the_domain(predictor):
    assert isinstance(predictor.encoder, Table)
    assert predictor.encoder.weight.shape == (6, 4)
    assert predictor.domain.contains(predictor.encoder.weight).all()


def test_model_f_is_built_with_pairs_and_without_an_encoder():
    settings = ModelSettings(scorer="model-f", dim=4)
    with pytest.raises(InputError, match="needs the entity pairs"):
        build_predictor(settings, ENTITIES, RELATIONS)
    with pytest.raises(InputError, match="takes no encoder of entities"):
        build_predictor(settings, ENTITIES, RELATIONS, pairs=PAIRS, encoder=torch.nn.Embedding(6, 4))
