"""Models that are kept where clauses hold, and a search for vectors that break them."""

from __future__ import annotations

import torch

from clausal.adversary.hard import find_hard
from clausal.adversary.reciprocal import readings_of
from clausal.adversary.semantics import Godel
from clausal.logic import parse_clause
from clausal.model import SCORERS, Table
from clausal.model.reciprocal import ReciprocalPredictor
from random_models import ENTITIES, RELATIONS


def reciprocal_predictor(scorer, domain, dim=4):
    predictor = ReciprocalPredictor(
        Table(len(ENTITIES), dim), SCORERS[scorer](dim), num_entities=len(ENTITIES), num_relations=4, domain=domain
    )
    predictor.encoder.weight.data = domain.sample(predictor.encoder.weight.shape)
    predictor.relations.data.normal_()
    return predictor


def hardened(predictor, *texts):
    """Keep a model inside the set of some clauses, and return those that are hard, and those that are not."""
    clauses = [parse_clause(text) for text in texts]
    hard = find_hard(clauses, ENTITIES, RELATIONS, predictor, "all")
    predictor.feasible = hard.feasible
    predictor.project_()
    return hard


def worst_found(predictor, group, starts=1000, steps=30):
    """The largest violation that gradient steps from many random vectors of the domain find, in double precision."""
    predictor = predictor.double()
    worst = 0.0
    for reading in readings_of([group], predictor):
        free = reading.slots(predictor).free
        vectors = predictor.domain.sample((len(reading), starts, free, predictor.scorer.dim)).double()
        vectors[:, ::2] = vectors[:, ::2].round()  # corners, where products are largest
        if free == 2:  # and pairs of unit vectors, which no other product hides
            unit = torch.eye(predictor.scorer.dim, dtype=torch.float64)
            pairs = torch.stack([unit.repeat_interleave(len(unit), 0), unit.repeat(len(unit), 1)], 1)
            vectors[:, : len(pairs)] = pairs
        vectors = predictor.domain.project(vectors).requires_grad_()
        for _ in range(steps):
            found = reading.violation(predictor, Godel(), vectors)
            worst = max(worst, found.max().item())
            (slope,) = torch.autograd.grad(found.sum(), vectors)
            vectors = predictor.domain.project(vectors.detach() + 0.1 * slope.sign()).requires_grad_()
    return worst
