"""Public contract checks: what the rest of the library relies on in a scorer and in an encoder.

Run ``check_scorer(MyScorer(dim=8))`` in your tests; a broken promise raises ``ContractError`` and says which.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

import torch
from torch import Tensor, nn

from clausal.model.scorers.base import BlockScorer, Scorer

_ENTITIES = 256
"""How many entities an encoder is tried on."""


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
    _check_order(scorer)
    subject, relation, object = draw(3, 4, scorer.dim), draw(4, scorer.relation_dim), draw(3, 4, scorer.dim)
    scores = scorer.score(subject, relation, object)
    _require_shape("score", scores, (3, 4))
    single = scorer.score(subject[1, 2], relation[2], object[1, 2])
    _require_shape("score of one fact", single, ())
    _require_close("score of one fact and of a batch", single, scores[1, 2], tolerance)
    _check_gradients(scorer, subject, relation, object)
    _check_candidates(scorer, relation, subject[0], draw(5, scorer.dim), tolerance)
    _check_components(scorer, subject, relation, object, tolerance)
    relations = torch.empty(6, scorer.relation_dim)
    scorer.reset_relations_(relations, generator)
    if not relations.isfinite().all():
        raise ContractError("reset_relations_ left values that are not finite")


@torch.no_grad()
def check_encoder(encoder: nn.Module, num_entities: int, dim: int) -> None:
    """Check that ``encoder`` maps ids of any shape to finite vectors, the same ones each time in eval mode.

    It is tried on some entities, the first and the last among them: encoding all of a large graph takes much memory.
    """
    if not isinstance(encoder, nn.Module):
        raise ContractError("an encoder must be an nn.Module")
    training = encoder.training
    encoder.eval()
    try:
        ids = torch.linspace(0, num_entities - 1, min(num_entities, _ENTITIES), dtype=torch.float64).round().long()
        vectors = encoder(ids)
        _require_shape("encoder(ids)", vectors, (len(ids), dim))
        if not vectors.isfinite().all():
            raise ContractError("encoder returned values that are not finite")
        _require_close("two calls in eval mode", encoder(ids), vectors, 0.0)
        grid = encoder(torch.stack([ids, ids.flip(0)]))
        _require_shape("encoder(ids of shape [2, n])", grid, (2, len(ids), dim))
        _require_close("ids of shape [2, n] and of shape [n]", grid, torch.stack([vectors, vectors.flip(0)]), 1e-5)
    except (IndexError, RuntimeError) as error:
        raise ContractError(f"encoder fails on the ids of {num_entities:,} entities: {error}") from None
    finally:
        encoder.train(training)


def _check_order(scorer: Scorer) -> None:
    """Refuse a scorer whose arguments are named in the order of version 0.1."""
    for name, first in (("score", "subject"), ("score_objects", "subject"), ("object_query", "subject")):
        method = getattr(scorer, name, None)
        if method is not None and next(iter(signature(method).parameters), first) == "relation":
            raise ContractError(
                f"{name} takes a relation first; since version 0.2 the order is subject, relation, object, as in facts"
            )


def _check_candidates(scorer: Scorer, relation: Tensor, known: Tensor, candidates: Tensor, tolerance: float) -> None:
    checks: list[tuple[str, Callable[..., Tensor], Tensor]] = [
        (
            "score_objects",
            lambda: scorer.score_objects(known, relation, candidates),
            scorer.score(known.unsqueeze(1), relation.unsqueeze(1), candidates),
        ),
        (
            "score_subjects",
            lambda: scorer.score_subjects(candidates, relation, known),
            scorer.score(candidates, relation.unsqueeze(1), known.unsqueeze(1)),
        ),
    ]
    for name, score_all, expected in checks:
        scores = score_all()
        _require_shape(name, scores, (len(relation), len(candidates)))
        _require_close(f"{name} and score", scores, expected, tolerance)


def _check_components(scorer: Scorer, subject: Tensor, relation: Tensor, object: Tensor, tolerance: float) -> None:
    """Check that components can be joined again, and that the block forms of a ``BlockScorer`` add up to scores."""
    taken_apart = [scorer.components(vectors) for vectors in (subject, object)]
    for components, vectors in zip(taken_apart, (subject, object), strict=True):
        joined = scorer.join(components)
        _require_shape("join(components(vectors))", joined, tuple(vectors.shape))
        _require_close("join(components(vectors)) and vectors", joined, vectors, tolerance)
    if isinstance(scorer, BlockScorer):
        blocks = scorer.blocks(relation)
        count, size = taken_apart[0].shape[-2:]
        _require_shape("blocks", blocks, (len(relation), count, size, size))
        sums = torch.einsum("...is,...ist,...it->...", taken_apart[0], blocks, taken_apart[1])
        _require_close("the sum of block forms and score", sums, scorer.score(subject, relation, object), tolerance)


def _check_gradients(scorer: Scorer, *arguments: Tensor) -> None:
    inputs = [tensor.clone().requires_grad_() for tensor in arguments]
    scores = scorer.score(*inputs)
    if not scores.requires_grad:
        raise ContractError("score has no gradient; it must be made of differentiable operations on its arguments")
    gradients = torch.autograd.grad(scores.sum(), inputs, allow_unused=True)
    for name, gradient in zip(("subject", "relation", "object"), gradients, strict=True):
        if gradient is None or not gradient.isfinite().all():
            raise ContractError(f"score has no finite gradient with respect to its {name}")


def _require_shape(what: str, tensor: object, shape: tuple[int, ...]) -> None:
    found = list(tensor.shape) if isinstance(tensor, Tensor) else type(tensor).__name__
    if found != list(shape):
        raise ContractError(f"{what} must have shape {list(shape)}; got {found}")


def _require_close(what: str, one: Tensor, other: Tensor, tolerance: float) -> None:
    gap = (one - other).abs().max().item()
    if not gap <= tolerance:
        raise ContractError(f"{what} must agree; they differ by {gap:.3g}")
