"""A reciprocal model answers each direction by its own vectors, and shows nobody that it has them."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from clausal.config import ModelSettings, Settings
from clausal.errors import InputError
from clausal.model import LinkPredictor, Negatives, ReciprocalPredictor, Unbounded
from clausal.model.build import build_predictor

N, R, DIM = 5, 3, 4
SUBJECTS, RELATIONS, OBJECTS = torch.tensor([0, 1, 4]), torch.tensor([2, 0, 1]), torch.tensor([3, 1, 0])


def predictor_of(scorer="complex"):
    predictor = build_predictor(ModelSettings(scorer=scorer, dim=DIM, domain="none", reciprocal=True), N, R)
    predictor.reset_parameters(torch.Generator().manual_seed(0))
    predictor.relations.data.normal_(generator=torch.Generator().manual_seed(1))
    return predictor


def by_hand(predictor, row, one, other):
    vectors = predictor.encode_all()
    return predictor.scorer.score(vectors[one], predictor.relations[row], vectors[other])


@pytest.mark.parametrize("scorer", ["complex", "transe", "rescal"])
def test_each_direction_has_its_own_row(scorer):
    predictor = predictor_of(scorer)
    assert predictor.num_relations == R
    assert len(predictor.relations) == 2 * R
    objects = predictor.score_objects(SUBJECTS, RELATIONS)
    subjects = predictor.score_subjects(RELATIONS, OBJECTS)
    for row in range(3):
        s, r, o = SUBJECTS[row], RELATIONS[row], OBJECTS[row]
        for entity in range(N):
            torch.testing.assert_close(objects[row, entity], by_hand(predictor, r, s, entity))
            torch.testing.assert_close(subjects[row, entity], by_hand(predictor, r + R, o, entity))
    both = (by_hand(predictor, RELATIONS, SUBJECTS, OBJECTS) + by_hand(predictor, RELATIONS + R, OBJECTS, SUBJECTS)) / 2
    torch.testing.assert_close(predictor.score(SUBJECTS, RELATIONS, OBJECTS), both)
    assert predictor.score_relations(SUBJECTS, OBJECTS).shape == (3, R)


def test_corruptions_are_scored_by_the_direction_that_they_answer():
    predictor = predictor_of()
    facts = torch.stack([SUBJECTS, RELATIONS, OBJECTS], 1)
    negatives = Negatives(torch.tensor([[1, 2, 3], [0, 0, 0]]), torch.tensor([[4, 4, 4], [2, 1, 0]]))
    positive, negative = predictor.score_corrupted(facts, negatives)
    torch.testing.assert_close(positive[0, 0], by_hand(predictor, RELATIONS + R, OBJECTS, SUBJECTS))
    torch.testing.assert_close(positive[1, 0], by_hand(predictor, RELATIONS, SUBJECTS, OBJECTS))
    torch.testing.assert_close(negative[0], by_hand(predictor, RELATIONS + R, OBJECTS, negatives.subjects))
    torch.testing.assert_close(negative[1], by_hand(predictor, RELATIONS, SUBJECTS, negatives.objects))


def test_queries_are_vectors_whose_products_are_the_scores():
    predictor = predictor_of()
    vectors = predictor.encode_all()
    for queries, scores in (
        (predictor.query_objects(vectors[SUBJECTS], RELATIONS), predictor.score_objects(SUBJECTS, RELATIONS)),
        (predictor.query_subjects(RELATIONS, vectors[OBJECTS]), predictor.score_subjects(RELATIONS, OBJECTS)),
    ):
        torch.testing.assert_close(queries @ vectors.T, scores)


def test_a_tabulated_model_scores_as_before():
    class Squares(nn.Module):
        def forward(self, ids):
            return torch.stack([ids + i for i in range(DIM)], -1).float().square() / 9

    settings = ModelSettings(scorer="complex", dim=DIM, domain="sphere", reciprocal=True)
    predictor = build_predictor(settings, N, R, encoder=Squares())
    table = predictor.with_table()
    assert isinstance(table, ReciprocalPredictor)
    assert table.with_table() is table
    for name, ids in (
        ("score", (SUBJECTS, RELATIONS, OBJECTS)),
        ("score_subjects", (RELATIONS, OBJECTS)),
        ("score_objects", (SUBJECTS, RELATIONS)),
    ):
        torch.testing.assert_close(getattr(table, name)(*ids), getattr(predictor, name)(*ids))


def test_with_inverses_it_is_a_plain_model_of_twice_the_relations():
    predictor = predictor_of()
    plain = predictor.with_inverses()
    assert type(plain) is LinkPredictor
    assert isinstance(plain.domain, Unbounded)
    assert plain.num_relations == 2 * R
    torch.testing.assert_close(
        plain.score_objects(OBJECTS, RELATIONS + R), predictor.score_subjects(RELATIONS, OBJECTS)
    )
    torch.testing.assert_close(
        plain.score(OBJECTS, RELATIONS + R, SUBJECTS), by_hand(predictor, RELATIONS + R, OBJECTS, SUBJECTS)
    )
    assert plain.with_inverses() is plain


def test_models_of_pairs_have_no_reciprocals():
    with pytest.raises(InputError, match=r"model\.reciprocal: model-f"):
        Settings.from_mapping({"model": {"scorer": "model-f", "reciprocal": True}})
