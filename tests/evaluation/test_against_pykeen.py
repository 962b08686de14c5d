"""Filtered ranking agrees with PyKEEN's evaluator, which scores and filters on its own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from score_tables import random_facts

from clausal.evaluation import Known, metrics, rank

N, R, DIM = 40, 4, 3
PYKEEN_SIDES = {"both": "both", "subject": "head", "object": "tail"}
PYKEEN_NAMES = {
    "mrr": "inverse_harmonic_mean_rank",
    "hits@1": "hits_at_1",
    "hits@3": "hits_at_3",
    "hits@5": "hits_at_5",
    "hits@10": "hits_at_10",
    "mean_rank": "arithmetic_mean_rank",
    "median_rank": "median_rank",
}


class DistMult:
    num_entities, num_relations, device = N, R, torch.device("cpu")

    def __init__(self, entities, relations):
        self.entities, self.relations = entities, relations

    def score(self, subjects, relations, objects):
        return (self.entities[subjects] * self.relations[relations] * self.entities[objects]).sum(-1)

    def score_objects(self, subjects, relations):
        return (self.entities[subjects] * self.relations[relations]) @ self.entities.T

    def score_subjects(self, relations, objects):
        return self.score_objects(objects, relations)


@pytest.fixture(scope="module")
def weights():
    # Small integers: scores are exact in any order of summation, and many are tied.
    generator = torch.Generator().manual_seed(0)
    return [torch.randint(-2, 3, (count, DIM), generator=generator).float() for count in (N, R)]


@pytest.fixture(scope="module")
def facts():
    facts = random_facts(5, 600, relations=R, entities=N)
    np.random.default_rng(0).shuffle(facts)
    return {"train": facts[:400], "test": facts[400:]}


@pytest.fixture(scope="module")
def pykeen_results(weights, facts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pykeen.evaluation import RankBasedEvaluator
        from pykeen.models import DistMult as PykeenDistMult
        from pykeen.triples import CoreTriplesFactory

        train, test = (torch.from_numpy(facts[name].astype(np.int64)) for name in ("train", "test"))
        factory = CoreTriplesFactory(train, num_entities=N, num_relations=R)
        model = PykeenDistMult(triples_factory=factory, embedding_dim=DIM, random_seed=0)
        with torch.no_grad():
            for representation, values in zip(
                (model.entity_representations[0], model.relation_representations[0]), weights, strict=True
            ):
                representation._embeddings.weight.copy_(values)
        return RankBasedEvaluator(filtered=True).evaluate(
            model, test, additional_filter_triples=[train], batch_size=32, use_tqdm=False
        )


@pytest.mark.parametrize("side", ["both", "subject", "object"])
@pytest.mark.parametrize("ties", ["realistic", "optimistic", "pessimistic"])
def test_filtered_metrics_equal_those_of_pykeen(weights, facts, pykeen_results, ties, side):
    known = Known(np.concatenate([facts["train"], facts["test"]]), N, R)
    ours = metrics(rank(DistMult(*weights), facts["test"], known, ties=ties, memory=3000))["filtered"][side]
    for name, theirs in PYKEEN_NAMES.items():
        expected = pykeen_results.get_metric(f"{PYKEEN_SIDES[side]}.{ties}.{theirs}")
        assert ours[name] == pytest.approx(expected, rel=1e-6), name
