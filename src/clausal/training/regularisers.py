"""Penalties on the vectors of queries and their answers: F2, N3 (Lacroix et al. 2018) and DURA (Zhang et al. 2020).

F2 and N3 are Σ |component|² and Σ |component|³ over the three vectors of a query, with the modulus for complex
components. DURA is ‖q‖² + ‖answer‖², q being the vector whose product with an answer is its score.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import Scorer
from clausal.training.against_all.queries import Queries, ask

_POWERS = {"f2": 2, "n3": 3}


def penalty(
    kind: str, predictor: LinkPredictor, queries: Queries, known: Tensor, answers: Tensor, asked: Tensor | None
) -> Tensor:
    """Sum the penalty over queries; several answers of one count as their mean.

    Given are the vectors of what is known in each query, of the answers, and each query's q, which DURA needs.
    """
    if kind == "none":
        return predictor.relations.new_zeros(())
    shares = queries.answers.shares
    if kind == "dura":
        assert asked is not None
        return asked.square().sum() + (shares * answers.square().sum(-1)).sum()
    scorer, power = predictor.scorer, _POWERS[kind]
    relation = predictor.relation(queries.relation_rows(predictor))
    own = _size(scorer, known, power).sum() + _size(scorer, relation, power).sum()
    return own + (shares * _size(scorer, answers, power)).sum()


def penalty_of_facts(kind: str, predictor: LinkPredictor, facts: Tensor) -> Tensor:
    """Sum the penalty over both queries of facts [b, 3]."""
    if kind == "none":
        return predictor.relations.new_zeros(())
    queries = ask(facts, facts)
    known, answers = predictor.encode(queries.entities).tensor_split([len(queries.known)])
    asked = query_vectors(predictor, queries, known) if kind == "dura" else None
    return penalty(kind, predictor, queries, known, answers, asked)


def query_vectors(predictor: LinkPredictor, queries: Queries, known: Tensor) -> Tensor:
    """Return the vector of each query, given those of what is known in it [queries, dim]."""
    subjects, objects = known.tensor_split([queries.forward])
    forward, backward = queries.relations.tensor_split([queries.forward])
    return torch.cat([predictor.query_objects(subjects, forward), predictor.query_subjects(backward, objects)])


def _size(scorer: Scorer, vectors: Tensor, power: int) -> Tensor:
    """Return Σ |component|ᵖ [...]."""
    components = scorer.components(vectors) if scorer.complex_numbers else vectors.unsqueeze(-1)
    size: Tensor = _PowersOfModuli.apply(components, power)
    return size


class _PowersOfModuli(torch.autograd.Function):
    """Σ |c|ᵖ over components c [..., components, numbers in one], whose gradient is p |c|ᵖ⁻² c, and 0 at 0."""

    @staticmethod
    def forward(ctx: Any, components: Tensor, power: int) -> Tensor:
        squares = components.square().sum(-1)
        ctx.save_for_backward(components, squares)
        ctx.power = power
        return (squares if power == 2 else squares * squares.sqrt()).sum(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        components, squares = ctx.saved_tensors
        slope = gradient.unsqueeze(-1) * (2 if ctx.power == 2 else 3 * squares.sqrt())
        return slope.unsqueeze(-1) * components, None
