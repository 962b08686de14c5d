"""Corruptions are uniform, repeat with the seed, avoid known facts where asked to, and weigh as Bernoulli's do."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
import torch

from clausal.model import LinkPredictor, PairPredictor, Table
from clausal.model.scorers import DistMult, ModelF
from clausal.training.corruption import Corruption

ENTITIES, RELATIONS = 12, 3


@pytest.fixture
def train():
    rng = np.random.default_rng(0)
    rows = {(int(s), int(r), int(o)) for s, r, o in rng.integers([ENTITIES, RELATIONS, ENTITIES], size=(150, 3))}
    return torch.tensor(sorted(rows), dtype=torch.int32)


def over_entities():
    return LinkPredictor(Table(ENTITIES, 2), DistMult(2), num_entities=ENTITIES, num_relations=RELATIONS)


def over_pairs(train):
    return PairPredictor(train[:, [0, 2]], ModelF(2), num_entities=ENTITIES, num_relations=RELATIONS)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_corruptions_are_uniform_over_all_entities_on_both_sides(train):
    corruption = Corruption(over_entities(), train, negatives=4)
    facts = train.long()
    draws = [corruption.draw(facts, seeded(seed)) for seed in range(20)]
    for side in ("subjects", "objects"):
        ids = torch.cat([getattr(draw, side) for draw in draws])
        assert ids.shape == (80, len(facts))
        counts = torch.bincount(ids.flatten(), minlength=ENTITIES).double()
        expected = counts.sum() / ENTITIES
        assert ((counts - expected).square() / expected).sum() < 40  # chi-square, 11 degrees of freedom: p < 1e-4
    first = draws[0]
    assert not torch.equal(first.subjects, first.objects)


def test_the_same_seed_draws_the_same_and_another_one_other_corruptions(train):
    corruption = Corruption(over_entities(), train, negatives=2, filtered=True)
    one, same, other = (corruption.draw(train.long(), seeded(seed)) for seed in (3, 3, 4))
    assert torch.equal(one.subjects, same.subjects)
    assert torch.equal(one.objects, same.objects)
    assert not torch.equal(one.subjects, other.subjects)


def corrupted_facts(predictor, facts, negatives):
    """The corruptions as triples, by a plain loop."""
    triples = []
    for side, drawn in (("subject", negatives.subjects), ("object", negatives.objects)):
        for row in drawn.tolist():
            for (s, r, o), id in zip(facts.tolist(), row, strict=True):
                if isinstance(predictor, PairPredictor):
                    pair = int(predictor.pairs[id])
                    triples.append((pair // ENTITIES, r, pair % ENTITIES))
                else:
                    triples.append((id, r, o) if side == "subject" else (s, r, id))
    return triples


@pytest.mark.parametrize("kind", ["entities", "pairs"])
def test_filtered_corruptions_are_never_train_facts(train, kind):
    predictor = over_entities() if kind == "entities" else over_pairs(train)
    known = {tuple(fact) for fact in train.tolist()}
    hits = {}
    for filtered in (False, True):
        corruption = Corruption(predictor, train, negatives=5, filtered=filtered)
        triples = corrupted_facts(predictor, train, corruption.draw(train.long(), seeded()))
        assert len(triples) == 10 * len(train)
        hits[filtered] = sum(triple in known for triple in triples)
    assert hits[False] > 100
    assert hits[True] == 0


def test_filtering_gives_up_on_a_fact_whose_every_corruption_is_known():
    everything = torch.cartesian_prod(torch.arange(ENTITIES), torch.tensor([0]), torch.arange(ENTITIES))
    corruption = Corruption(over_entities(), everything.int(), filtered=True)
    assert corruption.draw(everything[:4], seeded()).subjects.shape == (1, 4)


def test_bernoulli_weights_are_the_shares_of_a_naive_count(train):
    few_subjects, few_objects = (train[:, 1] == 0) & (train[:, 0] > 3), (train[:, 1] == 1) & (train[:, 2] > 2)
    train = train[~(few_subjects | few_objects)]
    objects, subjects = defaultdict(set), defaultdict(set)
    for s, r, o in train.tolist():
        objects[r, s].add(o)
        subjects[r, o].add(s)
    corruption = Corruption(over_entities(), train, negatives=3, bernoulli=True)
    weights = corruption.weights(train.long())
    assert weights.shape == (6, len(train))
    for column, (_, r, _) in enumerate(train.tolist()):
        tph = np.mean([len(found) for (relation, _), found in objects.items() if relation == r])
        hpt = np.mean([len(found) for (relation, _), found in subjects.items() if relation == r])
        share = tph / (tph + hpt)
        expected = [2 * share] * 3 + [2 * (1 - share)] * 3  # both sides are drawn, so the mean weight is 1
        assert weights[:, column].tolist() == pytest.approx(expected, rel=1e-5)


def test_a_relation_of_one_subject_and_many_objects_mostly_corrupts_its_subject():
    one_to_many = torch.tensor([[0, 0, o] for o in range(1, 10)], dtype=torch.int32)
    weights = Corruption(over_entities(), one_to_many, bernoulli=True).weights(one_to_many.long())
    assert weights[:, 0].tolist() == pytest.approx([2 * 0.9, 2 * 0.1])


def test_uniform_corruption_has_no_weights(train):
    assert Corruption(over_entities(), train).weights(train.long()) is None
