"""Public contract checks: what the rest of the library relies on in a scorer and in an encoder.

Run ``check_scorer(MyScorer(dim=8))`` in your tests; a broken promise raises ``ContractError`` and says which.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from clausal.model.scorers.base import BlockScorer, Scorer


class ContractError(AssertionError):
    """A scorer or an encoder does not do what the library relies on."""


def check_scorer(scorer: Scorer, *, tolerance: float = 1e-4) -> None:
    """Check that ``scorer`` broadcasts, agrees with itself on candidates and in blocks, and has finite gradients."""
    generator = torch.Generator().manual_seed(0)

    def draw(*shape: int) -> Tensor:
        return torch.rand(shape, generator=generator) - 0.5

    if not isinstance(scorer, Scorer):
        raise ContractError("a scorer must be a subclass of clausal.model.Scorer")
    if scorer.relation_dim < 1 or scorer.dim < 1:
        raise ContractError("relation_dim and dim must be positive")
    arguments = [draw(3, 4, scorer.dim) for _ in range(scorer.arguments)]
    relation = draw(4, scorer.relation_dim)
    scores = scorer.score(relation, *arguments)
    _require_shape("score", scores, (3, 4))
    single = scorer.score(relation[2], *(argument[1, 2] for argument in arguments))
    _require_shape("score of one fact", single, ())
    _require_close("score of one fact and of a batch", single, scores[1, 2], tolerance)
    _check_gradients(scorer, relation, arguments)
    if scorer.arguments == 2:
        _check_candidates(scorer, relation, arguments[0][0], draw(5, scorer.dim), tolerance)
    _check_components(scorer, relation, arguments, tolerance)
    relations = torch.empty(6, scorer.relation_dim)
    scorer.reset_relations_(relations, generator)
    if not relations.isfinite().all():
        raise ContractError("reset_relations_ left values that are not finite")


def check_encoder(encoder: nn.Module, num_entities: int, dim: int) -> None:
    """Check that ``encoder`` maps ids of any shape to finite vectors, the same ones each time in eval mode."""
    if not isinstance(encoder, nn.Module):
        raise ContractError("an encoder must be an nn.Module")
    training = encoder.training
    encoder.eval()
    try:
        ids = torch.arange(num_entities)
        vectors = encoder(ids)
        _require_shape("encoder(ids)", vectors, (num_entities, dim))
        if not vectors.isfinite().all():
            raise ContractError("encoder returned values that are not finite")
        _require_close("two calls in eval mode", encoder(ids), vectors, 0.0)
        grid = encoder(torch.stack([ids, ids.flip(0)]))
        _require_shape("encoder(ids of shape [2, n])", grid, (2, num_entities, dim))
        _require_close("ids of shape [2, n] and of shape [n]", grid, torch.stack([vectors, vectors.flip(0)]), 1e-5)
    except (IndexError, RuntimeError) as error:
        raise ContractError(f"encoder fails on the ids of {num_entities:,} entities: {error}") from None
    finally:
        encoder.train(training)


def _check_candidates(scorer: Scorer, relation: Tensor, known: Tensor, candidates: Tensor, tolerance: float) -> None:
    checks: list[tuple[str, Callable[..., Tensor], Tensor]] = [
        (
            "score_objects",
            scorer.score_objects,
            scorer.score(relation.unsqueeze(1), known.unsqueeze(1), candidates),
        ),
        (
            "score_subjects",
            scorer.score_subjects,
            scorer.score(relation.unsqueeze(1), candidates, known.unsqueeze(1)),
        ),
    ]
    for name, score_all, expected in checks:
        scores = score_all(relation, known, candidates)
        _require_shape(name, scores, (len(relation), len(candidates)))
        _require_close(f"{name} and score", scores, expected, tolerance)


def _check_components(scorer: Scorer, relation: Tensor, arguments: list[Tensor], tolerance: float) -> None:
    """Check that components can be joined again, and that the block forms of a ``BlockScorer`` add up to scores."""
    taken_apart = [scorer.components(argument) for argument in arguments]
    for components, argument in zip(taken_apart, arguments, strict=True):
        joined = scorer.join(components)
        _require_shape("join(components(vectors))", joined, tuple(argument.shape))
        _require_close("join(components(vectors)) and vectors", joined, argument, tolerance)
    if isinstance(scorer, BlockScorer):
        blocks = scorer.blocks(relation)
        count, size = taken_apart[0].shape[-2:]
        _require_shape("blocks", blocks, (len(relation), count, size, size))
        sums = torch.einsum("...is,...ist,...it->...", taken_apart[0], blocks, taken_apart[1])
        _require_close("the sum of block forms and score", sums, scorer.score(relation, *arguments), tolerance)


def _check_gradients(scorer: Scorer, relation: Tensor, arguments: list[Tensor]) -> None:
    inputs = [tensor.clone().requires_grad_() for tensor in (relation, *arguments)]
    scores = scorer.score(*inputs)
    if not scores.requires_grad:
        raise ContractError("score has no gradient; it must be made of differentiable operations on its arguments")
    gradients = torch.autograd.grad(scores.sum(), inputs, allow_unused=True)
    for position, gradient in enumerate(gradients):
        if gradient is None or not gradient.isfinite().all():
            name = ("relation", "first argument", "second argument")[position]
            raise ContractError(f"score has no finite gradient with respect to its {name}")


def _require_shape(what: str, tensor: object, shape: tuple[int, ...]) -> None:
    found = list(tensor.shape) if isinstance(tensor, Tensor) else type(tensor).__name__
    if found != list(shape):
        raise ContractError(f"{what} must have shape {list(shape)}; got {found}")


def _require_close(what: str, one: Tensor, other: Tensor, tolerance: float) -> None:
    gap = (one - other).abs().max().item()
    if not gap <= tolerance:
        raise ContractError(f"{what} must agree; they differ by {gap:.3g}")
