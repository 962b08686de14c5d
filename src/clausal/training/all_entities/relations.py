"""Predicting the relation of a query from its entities, beside its answer: an auxiliary loss (Chen et al. 2021)."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.kernels import Terms
from clausal.model.predictor import LinkPredictor
from clausal.training.all_entities.losses import Softmax
from clausal.training.all_entities.products import LossOfProducts
from clausal.training.all_entities.queries import Answers, Queries


def relation_loss(predictor: LinkPredictor, queries: Queries, known: Tensor, answers: Tensor, precision: str) -> Tensor:
    """Σ −log softmax of each query's relation among all, given the vectors of what is known and of the one answer.

    With reciprocal relations a query for a subject is read from object to subject, and the relations of both
    directions compete.
    """
    assert predictor.scorer.terms is not None
    rows, subject, object = queries.relation_rows(predictor), known, answers
    if predictor.rows_per_relation == 1:
        asked, answering = known.tensor_split([queries.forward]), answers.tensor_split([queries.forward])
        subject, object = torch.cat([asked[0], answering[1]]), torch.cat([answering[0], asked[1]])
    features = relation_features(predictor.scorer.terms, subject, object)
    loss: Tensor = LossOfProducts.apply(features, predictor.relations, Answers.one_each(rows), Softmax(), precision)
    return loss


def relation_features(terms: Terms, subject: Tensor, object: Tensor) -> Tensor:
    """Return f with φ = ⟨relation, f⟩ for a trilinear scorer: f[ρ] = Σ w x[σ] y[ω] over its terms."""
    x, y = subject.chunk(terms.parts, -1), object.chunk(terms.parts, -1)
    parts: dict[int, Tensor] = {}
    for weight, relation, of_subject, of_object in terms.terms:
        product = weight * x[of_subject] * y[of_object]
        parts[relation] = parts[relation] + product if relation in parts else product
    return torch.cat([parts[relation] for relation in sorted(parts)], -1)
