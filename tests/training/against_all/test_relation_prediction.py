"""The auxiliary loss is the cross-entropy of a query's relation among all, as scores of the model say it."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from clausal.config import Settings
from clausal.errors import InputError
from clausal.model.build import build_predictor
from clausal.training.against_all.objective import relation_loss
from clausal.training.against_all.queries import OneVsAll

FACTS = torch.tensor([[0, 1, 2], [3, 0, 1], [4, 2, 4]])


def predictor_for(scorer, reciprocal):
    settings = Settings.from_mapping(
        {"model": {"scorer": scorer, "dim": 6, "domain": "none", "reciprocal": reciprocal}}
    )
    torch.manual_seed(0)
    predictor = build_predictor(settings.model, 5, 3)
    predictor.encoder.weight.data.normal_()
    predictor.relations.data.normal_()
    return predictor


def plain_loss(predictor):
    """Score every row of the relation table, one by one."""
    subject, relation, object = FACTS.unbind(1)
    backward = (object, relation + 3, subject) if predictor.rows_per_relation == 2 else (subject, relation, object)
    readings = [(subject, relation, object), backward]  # by each of a fact's two queries
    total = 0
    for x, row, y in readings:
        by_row = [
            predictor.scorer.score(predictor.encode(x), vector, predictor.encode(y)) for vector in predictor.relations
        ]
        total = total + F.cross_entropy(torch.stack(by_row, 1), row, reduction="sum")
    return total


@pytest.mark.parametrize("reciprocal", [False, True])
@pytest.mark.parametrize("scorer", ["distmult", "complex", "simple", "cp"])
def test_loss_and_gradient_are_those_of_the_scores(scorer, reciprocal):
    predictor = predictor_for(scorer, reciprocal)
    source = OneVsAll(FACTS)
    queries = source.queries(source.rows)
    vectors = predictor.encode(queries.known), predictor.encode(queries.answers.entities)
    loss = relation_loss(predictor, queries, *vectors, "highest")
    expected = plain_loss(predictor)
    torch.testing.assert_close(loss, expected)
    parameters = list(predictor.parameters())
    for ours, theirs in zip(
        torch.autograd.grad(loss, parameters), torch.autograd.grad(expected, parameters), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"facts": {"relation_weight": 1}}, "1-vs-all"),
        (
            {
                "model": {"scorer": "rescal"},
                "facts": {"relation_weight": 1, "training": "1-vs-all", "loss": "softmax"},
            },
            "not for rescal",
        ),
    ],
)
def test_it_is_refused_where_it_cannot_be_had(sections, message):
    with pytest.raises(InputError, match=message):
        Settings.from_mapping(sections)
