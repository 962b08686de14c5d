"""The public contract checks accept every registered class and refuse broken ones, saying what is broken."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from clausal.model import SCORERS, ContractError, FrozenTable, Scorer, Table, check_encoder, check_scorer
from clausal.model.scorers import ComplEx, DistMult, HolE, RotatE, TransE

CONTRACTS = {name: [kind(6)] for name, kind in SCORERS.items()}
CONTRACTS["hole"] = [HolE(dim) for dim in (1, 2, 5, 6)]
CONTRACTS["transe"] = [TransE(6, norm) for norm in ("l1", "l2", "l2-squared")]


def test_every_registered_scorer_has_a_contract_test():
    checked = {type(scorer) for scorers in CONTRACTS.values() for scorer in scorers}
    assert checked == set(SCORERS.values())


@pytest.mark.parametrize("scorer", [scorer for scorers in CONTRACTS.values() for scorer in scorers], ids=repr)
def test_registered_scorers_keep_the_contract(scorer):
    check_scorer(scorer)


class ScoresOfTheWrongShape(DistMult):
    def score(self, subject, relation, object):
        return relation * subject * object


class DependsOnTheBatch(DistMult):
    def score(self, subject, relation, object):
        scores = super().score(subject, relation, object)
        return scores - scores.mean()


class ObjectsDisagree(DistMult):
    def score_objects(self, subject, relation, candidates):
        return 1.01 * super().score_objects(subject, relation, candidates)


class SubjectsAndObjectsSwapped(RotatE):
    def score_subjects(self, candidates, relation, object):
        return self.score_objects(object, relation, candidates)


class SubjectsOfTheWrongShape(DistMult):
    def score_subjects(self, candidates, relation, object):
        return super().score_subjects(candidates, relation, object).T


class NoGradientAtAll(DistMult):
    def score(self, subject, relation, object):
        return super().score(subject, relation, object).detach()


class NoGradientOfTheObject(DistMult):
    def score(self, subject, relation, object):
        return super().score(subject, relation, object.detach())


class InfiniteGradient(DistMult):
    def score(self, subject, relation, object):
        return super().score(subject, relation, object) + (subject - subject).sqrt().sum(-1)


class RelationsNotFinite(DistMult):
    def reset_relations_(self, relations, generator=None):
        relations.fill_(float("nan"))


class BlocksOfAnotherScorer(DistMult):
    def blocks(self, relation):
        return 2 * super().blocks(relation)


class BlocksOfTheWrongShape(DistMult):
    def blocks(self, relation):
        return relation


class JoinLosesTheOrder(ComplEx):
    def join(self, components):
        return components.flatten(-2)


@pytest.mark.parametrize(
    ("scorer", "complaint"),
    [
        (BlocksOfAnotherScorer, "the sum of block forms and score must agree"),
        (BlocksOfTheWrongShape, r"blocks must have shape \[4, 6, 1, 1\]; got \[4, 6\]"),
        (JoinLosesTheOrder, r"join\(components\(vectors\)\) and vectors must agree"),
        (ScoresOfTheWrongShape, r"score must have shape \[3, 4\]; got \[3, 4, 6\]"),
        (DependsOnTheBatch, "score of one fact and of a batch must agree"),
        (ObjectsDisagree, "score_objects and score must agree"),
        (SubjectsAndObjectsSwapped, "score_subjects and score must agree"),
        (SubjectsOfTheWrongShape, r"score_subjects must have shape \[4, 5\]; got \[5, 4\]"),
        (NoGradientAtAll, "no gradient"),
        (NoGradientOfTheObject, "no finite gradient with respect to its object"),
        (InfiniteGradient, "no finite gradient with respect to its subject"),
        (RelationsNotFinite, "reset_relations_"),
    ],
)
def test_broken_scorers_are_refused(scorer, complaint):
    with pytest.raises(ContractError, match=complaint):
        check_scorer(scorer(6))


def test_what_is_no_scorer_is_refused():
    with pytest.raises(ContractError, match=r"subclass of clausal\.model\.Scorer"):
        check_scorer(nn.Linear(6, 1))


class FeatureEncoder(nn.Module):
    """A user's encoder: a small network over fixed features of the entities."""

    def __init__(self, features, dim, dropout=0.0):
        super().__init__()
        self.register_buffer("features", features)
        self.network = nn.Sequential(nn.Linear(features.shape[1], 8), nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, dim))

    def forward(self, ids):
        return self.network(self.features[ids])


@pytest.mark.parametrize(
    "encoder",
    [
        Table(5, 4),
        FrozenTable(torch.ones(5, 4)),
        nn.Embedding(5, 4),
        FeatureEncoder(torch.eye(5), 4),
        FeatureEncoder(torch.eye(5), 4, dropout=0.5),
    ],
    ids=lambda encoder: type(encoder).__name__,
)
def test_encoders_keep_the_contract_and_the_mode_they_were_in(encoder):
    encoder.train()
    check_encoder(encoder, 5, 4)
    assert encoder.training
    check_encoder(encoder.eval(), 5, 4)
    assert not encoder.training


def test_an_encoder_of_one_entity_is_checked_too():
    check_encoder(Table(1, 3), 1, 3)


class Constant(nn.Module):
    def forward(self, ids):
        return torch.ones(5, 4)


class Noisy(nn.Embedding):
    def forward(self, ids):
        return super().forward(ids) + torch.rand(*ids.shape, 4)


class NotFinite(nn.Embedding):
    def forward(self, ids):
        return super().forward(ids) / 0


class Flattens(nn.Embedding):
    def forward(self, ids):
        return super().forward(ids.flatten())


@pytest.mark.parametrize(
    ("encoder", "complaint"),
    [
        (nn.Embedding(5, 3), r"encoder\(ids\) must have shape \[5, 4\]; got \[5, 3\]"),
        (Constant(), r"ids of shape \[2, n\]"),
        (Flattens(5, 4), r"ids of shape \[2, n\]"),
        (Noisy(5, 4), "two calls in eval mode must agree"),
        (NotFinite(5, 4), "not finite"),
        (lambda ids: torch.ones(*ids.shape, 4), "must be an nn.Module"),
    ],
)
def test_broken_encoders_are_refused(encoder, complaint):
    with pytest.raises(ContractError, match=complaint):
        check_encoder(encoder, 5, 4)


def test_a_scorer_without_a_score_cannot_be_made():
    class NothingImplemented(Scorer):
        pass

    with pytest.raises(TypeError, match="abstract"):
        NothingImplemented(6)


def test_an_encoder_is_tried_on_some_entities_without_gradients():
    asked = []

    class Watched(nn.Module):
        def forward(self, ids):
            assert not torch.is_grad_enabled()
            asked.append(ids)
            return ids.unsqueeze(-1).expand(*ids.shape, 3).float()

    check_encoder(Watched(), num_entities=10_000_000, dim=3)
    assert sum(ids.numel() for ids in asked) <= 4 * 256
    assert {0, 9_999_999} <= set(asked[0].tolist())


def test_a_scorer_in_the_order_of_version_0_1_is_told_of_the_new_one():
    class RelationFirst(DistMult):
        def score(self, relation, subject, object):
            return super().score(subject, relation, object)

    with pytest.raises(ContractError, match=r"since version 0\.2 the order is subject, relation, object"):
        check_scorer(RelationFirst(4))
