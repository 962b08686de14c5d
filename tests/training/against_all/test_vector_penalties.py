"""Penalties on the vectors of a batch equal their formulas, fact by fact."""

from __future__ import annotations

import pytest
import torch

from clausal.config import ModelSettings
from clausal.model.build import build_predictor
from clausal.training.against_all.queries import KVsAll, OneVsAll
from clausal.training.regularisers import _PowersOfModuli, penalty, penalty_of_facts

FACTS = torch.tensor([[0, 0, 1], [0, 0, 2], [3, 1, 2], [4, 1, 4]])


def predictor_of(scorer, reciprocal):
    settings = ModelSettings(scorer=scorer, dim=6, domain="none", reciprocal=reciprocal)
    predictor = build_predictor(settings, 5, 2).double()
    predictor.reset_parameters(torch.Generator().manual_seed(0))
    return predictor


def size(vector, power, scorer):
    numbers = vector.tolist()
    if scorer == "complex":
        numbers = [abs(complex(*pair)) for pair in zip(numbers[:3], numbers[3:], strict=True)]
    return sum(abs(number) ** power for number in numbers)


def penalty_of_rows(kind, predictor, source):
    queries = source.queries(source.rows)
    known, answers = predictor.encode(queries.known), predictor.encode(queries.answers.entities)
    return penalty(kind, predictor, queries, known, answers, None)


@pytest.mark.parametrize("power", [2, 3])
@pytest.mark.parametrize("numbers", [1, 2])
def test_the_gradient_of_powers_of_moduli_is_that_of_autograd(numbers, power):
    components = torch.randn(3, 4, numbers, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.autograd.gradcheck(lambda given: _PowersOfModuli.apply(given, power), components.requires_grad_())


@pytest.mark.parametrize("reciprocal", [False, True])
@pytest.mark.parametrize("scorer", ["complex", "distmult", "simple"])
@pytest.mark.parametrize(("kind", "power"), [("f2", 2), ("n3", 3)])
def test_powers_are_summed_over_the_three_vectors_of_each_query(kind, power, scorer, reciprocal):
    predictor = predictor_of(scorer, reciprocal)
    entities, relations = predictor.encoder.weight, predictor.relations
    expected = 0.0
    for subject, relation, object in FACTS.tolist():
        backward = relation + 2 if reciprocal else relation
        for row in (relation, backward):  # the two queries of a fact
            expected += sum(size(v, power, scorer) for v in (entities[subject], relations[row], entities[object]))
    assert penalty_of_facts(kind, predictor, FACTS).item() == pytest.approx(expected)
    assert penalty_of_rows(kind, predictor, OneVsAll(FACTS)).item() == pytest.approx(expected)


def test_several_answers_of_a_query_count_as_their_mean():
    predictor = predictor_of("complex", reciprocal=True)
    source = KVsAll(FACTS[:2], 5)
    entities, relations = predictor.encoder.weight, predictor.relations
    of_entities = [size(vector, 3, "complex") for vector in entities]
    of_relations = [size(vector, 3, "complex") for vector in relations]
    forward = of_entities[0] + of_relations[0] + (of_entities[1] + of_entities[2]) / 2
    backward = sum(of_entities[known] + of_relations[2] + of_entities[0] for known in (1, 2))
    assert penalty_of_rows("n3", predictor, source).item() == pytest.approx(forward + backward)


@pytest.mark.parametrize("reciprocal", [False, True])
def test_dura_is_the_squared_norm_of_query_and_answer(reciprocal):
    predictor, expected = predictor_of("complex", reciprocal), 0.0
    for subject, relation, object in FACTS.tolist():
        unit = torch.eye(6, dtype=torch.float64)
        row = predictor.relations[[relation]]
        inverse = predictor.relations[[relation + 2 if reciprocal else relation]]
        s, o = predictor.encoder.weight[[subject]], predictor.encoder.weight[[object]]
        expected += predictor.scorer.score_objects(s, row, unit).square().sum() + o.square().sum()
        scorer = predictor.scorer
        backward = scorer.score_objects(o, inverse, unit) if reciprocal else scorer.score_subjects(unit, inverse, o)
        expected += backward.square().sum() + s.square().sum()
    torch.testing.assert_close(penalty_of_facts("dura", predictor, FACTS), expected)


def test_a_component_of_zero_has_gradient_zero():
    predictor = predictor_of("complex", reciprocal=False)
    predictor.encoder.weight.data.zero_()
    penalty_of_facts("n3", predictor, FACTS).backward()
    assert predictor.encoder.weight.grad.abs().max().item() == 0
