"""Predicting a fact's relation from its entities, beside its entities: an auxiliary loss (Chen et al. 2021)."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.kernels import Terms
from clausal.model.predictor import LinkPredictor
from clausal.training.all_entities.losses import Softmax
from clausal.training.all_entities.products import LossOfProducts
from clausal.training.all_entities.queries import Answers, Queries


def relation_loss(predictor: LinkPredictor, queries: Queries, known: Tensor, precision: str) -> Tensor:
    """Σ −log softmax of a fact's relation among all, for the queries of facts, whose known vectors are given.

    With reciprocal relations a fact is read both ways, and the relations of both directions compete.
    """
    assert predictor.scorer.terms is not None
    forward, backward = queries.relations.tensor_split([queries.forward])
    subject, object = known.tensor_split([queries.forward])  # a fact's two queries know one of its entities each
    rows = forward
    if predictor.rows_per_relation > 1:
        rows = torch.cat([forward, predictor.turned(backward)])
        subject, object = known, torch.cat([object, subject])
    features = relation_features(predictor.scorer.terms, subject, object)
    answers = Answers(torch.arange(len(rows), device=rows.device), rows, torch.ones(len(rows), device=rows.device))
    loss: Tensor = LossOfProducts.apply(features, predictor.relations, answers, Softmax(), precision)
    return loss


def relation_features(terms: Terms, subject: Tensor, object: Tensor) -> Tensor:
    """Return f with φ = ⟨relation, f⟩ for a trilinear scorer: f[ρ] = Σ w x[σ] y[ω] over its terms."""
    x, y = subject.chunk(terms.parts, -1), object.chunk(terms.parts, -1)
    parts: dict[int, Tensor] = {}
    for weight, relation, of_subject, of_object in terms.terms:
        product = weight * x[of_subject] * y[of_object]
        parts[relation] = parts[relation] + product if relation in parts else product
    return torch.cat([parts[relation] for relation in sorted(parts)], -1)
