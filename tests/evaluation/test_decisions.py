"""Decisions against clauses are counted as by definition, and thresholds have the probability that was asked for."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
import torch
from all_assignments import RELATIONS, entity_names, score_table, small_predictor
from demanded_scores import demanded, horn_parts, place, random_clauses, variables_of

from clausal.evaluation import Calibration, Known
from clausal.evaluation.calibration import Fit
from clausal.evaluation.consistency import closed_rows
from clausal.evaluation.consistency.facts import fact_scores
from clausal.evaluation.decisions import EXAMPLES, Accepted, Margins, decide, thresholds_of
from clausal.evaluation.probabilities import Curve
from clausal.logic import parse_clause

CPU = torch.device("cpu")


def counted(clause, accepted, entities):
    """How many bodies are accepted, and how many of them without their head."""
    bodies = broken = 0
    for body, head in horn_parts(clause.formula):
        atoms = (*body, *([head] if head else []))
        variables = sorted(variables_of(atoms), key=variables_of(clause.atoms).index)
        ends = variables
        if len(variables) > 2:
            ends = [one for one in variables if one in head.terms] if head else [variables[0], variables[-1]]
        found = {}
        for ids in itertools.product(range(len(entities)), repeat=len(variables)):
            binding = dict(zip(variables, ids, strict=True))
            if all(accepted[place(atom, binding, entities, RELATIONS)] for atom in body):
                fails = head is None or not accepted[place(head, binding, entities, RELATIONS)]
                found[tuple(binding[one] for one in ends)] = fails
        bodies, broken = bodies + len(found), broken + sum(found.values())
    return bodies, broken


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("consistent", [False, True])
def test_decisions_are_counted_as_by_definition(seed, consistent):
    drawn = random.Random(seed)
    entities = entity_names(4)
    clauses = [parse_clause(text) for text in random_clauses(drawn, 3)]
    predictor = small_predictor("complex", 4, seed)
    thresholds = np.array([drawn.choice([-3.0, 0.0, 2.0]) for _ in range(5)])
    margins = Margins(fact_scores(predictor), thresholds, CPU)
    train = np.random.default_rng(seed).integers([0, 0, 0], [4, 5, 4], size=(3, 3)).astype(np.int32)
    table = score_table(predictor) - thresholds[:, None, None]
    if consistent:
        rows = closed_rows(margins, clauses, Known(train, 4, 5), entities, RELATIONS, CPU)
        accepted = demanded(table, clauses, train.tolist(), entities, RELATIONS) >= 0
    else:
        accepted = table >= 0

        def rows(relation, turned, ids):
            return margins.rows(torch.full_like(ids, relation), torch.full_like(ids, turned, dtype=torch.bool), ids)

    with torch.no_grad():
        found = decide(Accepted(rows, 4, CPU), margins, clauses, entities, RELATIONS)
    for clause, one in zip(clauses, found, strict=True):
        assert (one.accepted, one.broken) == counted(clause, accepted, entities)
        assert len(one.examples) == min(EXAMPLES, one.broken)
        for example in () if consistent else one.examples:
            assert example.body >= 0
            assert example.head is None or example.head < 0


def test_a_threshold_is_the_least_score_of_its_probability():
    curve = Curve((0.2, 0.5, 0.9), (0.1, 0.4, 0.95))
    calibration = Calibration(Fit(2.0, -1.0, 0.3, 100, curve), {1: Fit(0.5, 0.1, -0.2, 40)})
    assert thresholds_of(calibration, 3).tolist() == [0.3, -0.2, 0.3]
    found = thresholds_of(calibration, 3, 0.9)
    ids = np.arange(3)
    assert (calibration.probabilities(found, ids) >= 0.9).all()
    below = np.nextafter(found.astype(np.float32), np.float32(-np.inf)).astype(np.float64)
    assert (calibration.probabilities(below, ids) < 0.9).all()
    assert (thresholds_of(calibration, 3, 0.99) == np.inf).all()  # the curve ends at 0.95
