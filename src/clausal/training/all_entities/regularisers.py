"""Penalties on the vectors of queries and their answers: F2, N3 (Lacroix et al. 2018) and DURA (Zhang et al. 2020).

F2 and N3 are Σ |component|² and Σ |component|³ over the three vectors of a fact, with the modulus for complex
components. DURA is ‖q‖² + ‖answer‖², q being the vector whose product with an answer is its score.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import Scorer
from clausal.training.all_entities.queries import Queries

_POWERS = {"f2": 2, "n3": 3}


def penalty(
    kind: str,
    predictor: LinkPredictor,
    queries: Queries,
    known: Tensor | None = None,
    vectors: Tensor | None = None,
) -> Tensor:
    """Sum the penalty over queries; several answers of one count as their mean.

    ``known`` and ``vectors`` [queries, dim] are what is known in a query and its q, if they were looked up before.
    """
    if kind == "none":
        return predictor.relations.new_zeros(())
    known = predictor.encode(queries.known) if known is None else known
    # With one answer for each query, a fact's own two queries answer each other.
    one_each = queries.answers.starts is None
    answers = known.roll(queries.forward, 0) if one_each else predictor.encode(queries.answers.entities)
    if kind == "dura":
        vectors = query_vectors(predictor, queries, known) if vectors is None else vectors
        return vectors.square().sum() + (queries.answers.shares * answers.square().sum(-1)).sum()
    scorer, power = predictor.scorer, _POWERS[kind]
    forward, backward = queries.relations.tensor_split([queries.forward])
    relation = predictor.relation(torch.cat([forward, predictor.turned(backward)]))
    own = _size(scorer, known, power).sum() + _size(scorer, relation, power).sum()
    return own + (queries.answers.shares * _size(scorer, answers, power)).sum()


def query_vectors(predictor: LinkPredictor, queries: Queries, known: Tensor) -> Tensor:
    """Return the vector of each query, given those of what is known in it [queries, dim]."""
    subjects, objects = known.tensor_split([queries.forward])
    forward, backward = queries.relations.tensor_split([queries.forward])
    return torch.cat([predictor.query_objects(forward, subjects), predictor.query_subjects(backward, objects)])


def _size(scorer: Scorer, vectors: Tensor, power: int) -> Tensor:
    """Return Σ |component|ᵖ [...]; squares come first, as a modulus has no gradient at 0."""
    squares = scorer.components(vectors).square().sum(-1) if scorer.complex_numbers else vectors.square()
    return (squares if power == 2 else squares.pow(power / 2)).sum(-1)
