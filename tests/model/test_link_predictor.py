"""A link predictor's ways to score agree for every scorer, its vectors lie in its domain, and its start is known."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import nn

from clausal.config import ModelSettings
from clausal.errors import InputError
from clausal.model import SCORERS, Cube, FrozenTable, LinkPredictor, Negatives, Sphere, Table, Unbounded
from clausal.model.build import build_predictor
from clausal.model.scorers import ERMLP, RESCAL, DistMult, TransE, base
from clausal.model.tensors import xavier_

ENTITIES, RELATIONS, DIM = 5, 3, 4
OVER_ENTITIES = [name for name, kind in SCORERS.items() if name != "model-f"]


def make(scorer, **keywords):
    torch.manual_seed(1)
    settings = ModelSettings(scorer=scorer, dim=DIM, domain="cube")
    return build_predictor(settings, ENTITIES, RELATIONS, **keywords)


@pytest.mark.parametrize("scorer", OVER_ENTITIES)
def test_scoring_all_entities_equals_scoring_single_facts(scorer):
    predictor = make(scorer)
    ids = torch.tensor(list(itertools.product(range(ENTITIES), range(RELATIONS), range(ENTITIES))))
    single = predictor.score(*ids.unbind(1)).reshape(ENTITIES, RELATIONS, ENTITIES).detach()
    entity, relation = torch.tensor(list(itertools.product(range(ENTITIES), range(RELATIONS)))).unbind(1)
    close = {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(predictor.score_objects(entity, relation).detach(), single[entity, relation], **close)
    by_subject = predictor.score_subjects(relation, entity).detach()
    torch.testing.assert_close(by_subject, single[:, relation, entity].T, **close)
    subjects, objects = torch.tensor([0, 4]), torch.tensor([3, 3])
    by_relation = predictor.score_relations(subjects, objects).detach()
    torch.testing.assert_close(by_relation, single[subjects, :, objects], **close)


@pytest.mark.parametrize("scorer", OVER_ENTITIES)
def test_corrupted_facts_score_as_single_facts_do(scorer):
    predictor = make(scorer)
    facts = torch.tensor([[0, 1, 2], [4, 0, 4], [3, 2, 1]])
    negatives = Negatives(torch.tensor([[1, 2, 0], [3, 3, 3]]), torch.tensor([[4, 0, 0], [2, 1, 1]]))
    positive, negative = predictor.score_corrupted(facts, negatives)
    subject, relation, object = facts.unbind(1)
    torch.testing.assert_close(positive, predictor.score(subject, relation, object))
    other_subjects = predictor.score(negatives.subjects, relation, object)
    other_objects = predictor.score(subject, relation, negatives.objects)
    torch.testing.assert_close(negative, torch.cat([other_subjects, other_objects]))


@pytest.mark.parametrize("scorer", ["transe", "rotate", "er-mlp"])
def test_scoring_all_candidates_in_pieces_changes_nothing(scorer, monkeypatch):
    predictor = make(scorer)
    entity, relation = torch.tensor([0, 1, 2, 3, 4, 0]), torch.tensor([0, 1, 2, 0, 1, 2])
    whole = predictor.score_objects(entity, relation), predictor.score_subjects(relation, entity)
    monkeypatch.setattr(base, "BROADCAST_LIMIT", 2 * ENTITIES * DIM)
    pieces = predictor.score_objects(entity, relation), predictor.score_subjects(relation, entity)
    torch.testing.assert_close(pieces, whole)


def test_xavier_is_uniform_over_the_whole_matrix():
    weight = xavier_(torch.empty(300, 60), torch.Generator().manual_seed(0))
    bound = math.sqrt(6 / 360)
    assert weight.abs().max().item() <= bound
    assert weight.abs().max().item() > 0.99 * bound
    assert weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)


def test_initial_parameters_follow_the_sizes_of_their_matrices():
    sizes = {"num_entities": 200, "num_relations": 50}
    predictor = LinkPredictor(Table(200, 20), DistMult(20), **sizes)
    predictor.reset_parameters(torch.Generator().manual_seed(0))
    for weight, bound in (
        (predictor.encoder.weight, math.sqrt(6 / (200 + 20))),
        (predictor.relations, math.sqrt(6 / (50 + 20))),
    ):
        assert 0.98 * bound < weight.abs().max().item() <= bound
    matrices = LinkPredictor(Table(200, 20), RESCAL(20), **sizes).relations
    assert 0.98 * math.sqrt(6 / (50 + 400)) < matrices.abs().max().item() <= math.sqrt(6 / (50 + 400))


def test_angles_of_rotate_start_all_around_the_circle():
    angles = make("rotate").relations.new_empty(1000, 2)
    make("rotate").scorer.reset_relations_(angles, torch.Generator().manual_seed(0))
    assert 3.1 < angles.abs().max().item() <= math.pi
    assert abs(angles.mean().item()) < 0.15


@pytest.mark.parametrize("domain", [Sphere(), Cube()], ids=repr)
def test_entities_lie_in_the_domain_from_the_start_and_relations_are_free(domain):
    predictor = LinkPredictor(Table(50, 6), DistMult(6), num_entities=50, num_relations=40, domain=domain)
    assert domain.contains(predictor.encode_all()).all()
    predictor.reset_parameters(torch.Generator().manual_seed(3))
    assert domain.contains(predictor.encode_all()).all()
    assert not domain.contains(predictor.relations).any()


def test_the_same_generator_gives_the_same_start_and_another_one_another():
    predictor = make("er-mlp")
    starts = []
    for seed in (5, 5, 6):
        predictor.reset_parameters(torch.Generator().manual_seed(seed))
        starts.append([parameter.detach().clone() for parameter in predictor.parameters()])
    assert all(torch.equal(one, other) for one, other in zip(starts[0], starts[1], strict=True))
    different = [not torch.equal(one, other) for one, other in zip(starts[0], starts[2], strict=True)]
    # The three matrices of the first layer, two further ones, entities and relations; biases start at zero.
    assert sum(different) == 7


class Doubling(nn.Module):
    """An encoder whose raw output is far outside of any bounded domain."""

    def forward(self, ids):
        return torch.stack([2.0 + ids, -3.0 - ids, 0.5 + 0 * ids, 1.0 + 0 * ids], -1)


def test_the_output_of_any_other_encoder_is_projected_on_its_way_out():
    for name, domain in (("sphere", Sphere()), ("cube", Cube())):
        settings = ModelSettings(scorer="distmult", dim=4, domain=name)
        predictor = build_predictor(settings, ENTITIES, RELATIONS, encoder=Doubling())
        torch.testing.assert_close(predictor.encode_all(), domain.project(Doubling()(torch.arange(ENTITIES))))


def test_tabulating_keeps_every_score_and_changes_no_parameter():
    scorer = ERMLP(4)  # has parameters of its own, which the with_table copy shares
    predictor = LinkPredictor(Doubling(), scorer, num_entities=ENTITIES, num_relations=RELATIONS, domain=Cube())
    predictor.eval()
    before = {name: value.clone() for name, value in predictor.state_dict().items()}
    subjects, relations = torch.tensor([0, 1, 4]), torch.tensor([0, 2, 1])
    expected = predictor.score_objects(subjects, relations)
    with_table = predictor.with_table()
    torch.testing.assert_close(with_table.score_objects(subjects, relations), expected)
    assert isinstance(with_table.encoder, FrozenTable)
    assert not with_table.training
    assert all(torch.equal(value, before[name]) for name, value in predictor.state_dict().items())


def test_a_table_needs_no_tabulating():
    predictor = make("distmult")
    assert predictor.with_table() is predictor


def test_frozen_vectors_are_projected_once_and_never_again():
    vectors = torch.randn(500, 8, generator=torch.Generator().manual_seed(0))
    predictor = LinkPredictor(FrozenTable(vectors), DistMult(8), num_entities=500, num_relations=2, domain=Sphere())
    torch.testing.assert_close(predictor.encode_all(), Sphere().project(vectors))
    before = predictor.encode_all().clone()
    predictor.reset_parameters()
    predictor.project_()
    assert torch.equal(predictor.encode_all(), before)
    assert not predictor.encoder.weight.requires_grad


def test_settings_reach_the_scorer_and_the_domain():
    transe = build_predictor(ModelSettings(scorer="transe", dim=4, norm="l2", domain="box", box=(0.0, 2.0)), 5, 3)
    assert isinstance(transe.scorer, TransE)
    assert (transe.scorer.norm, transe.domain.low, transe.domain.high) == ("l2", 0.0, 2.0)
    mlp = build_predictor(ModelSettings(scorer="er-mlp", dim=4, hidden=(7, 3), domain="none"), 5, 3)
    assert mlp.scorer.hidden == (7, 3)
    assert isinstance(mlp.domain, Unbounded)
    with pytest.raises(InputError, match=r'model\.encoder = "frozen" needs model\.pretrained'):
        build_predictor(ModelSettings(encoder="frozen", pretrained="x.npy", dim=4), 5, 3)
