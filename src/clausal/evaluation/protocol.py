"""What evaluation asks of a link predictor: scores of facts, and of all entities as the answer to a query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from clausal.errors import InputError, RunError, count
from clausal.graph.graph import Facts

_FACTS_AT_ONCE = 16_384
_FACTS_IN_CACHE = 1024
"""Facts that a model on a CPU scores at a time: their vectors stay in the cache, which takes half the time."""


class Ranker(Protocol):
    """A link predictor as evaluation sees it: it scores ids, and higher scores are better."""

    @property
    def num_entities(self) -> int:
        """How many entities there are to rank."""

    @property
    def num_relations(self) -> int:
        """How many relations there are."""

    @property
    def device(self) -> torch.device:
        """Where ids are expected and scores come back."""

    def score(self, subjects: Tensor, relations: Tensor, objects: Tensor) -> Tensor:
        """Score facts given by ids: [facts] each, scores [facts]."""

    def score_objects(self, subjects: Tensor, relations: Tensor) -> Tensor:
        """Score all entities as the object of (s, r, ?): ids [queries], scores [queries, entities]."""

    def score_subjects(self, relations: Tensor, objects: Tensor) -> Tensor:
        """Score all entities as the subject of (?, r, o): ids [queries], scores [queries, entities]."""


@runtime_checkable
class RanksInParts(Protocol):
    """A ranker that works on some relations at a time, because of what it computes for them."""

    def parts(self, facts: Facts) -> list[NDArray[np.int64]]:
        """Return the places of facts to be ranked together, part by part."""


@contextmanager
def scoring(predictor: Ranker) -> Iterator[None]:
    """Score without gradients and in evaluation mode, and leave the predictor in the mode it was in."""
    module = predictor if isinstance(predictor, nn.Module) and predictor.training else None
    if module is not None:
        module.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        if module is not None:
            module.train()


def score_facts(predictor: Ranker, facts: Facts) -> NDArray[np.float64]:
    """Score facts given as rows of ids, some at a time; NaN is a failure. Shape [facts]."""
    check_facts(facts, predictor)
    ids = torch.from_numpy(facts.astype(np.int64))
    small = isinstance(predictor, nn.Module) and predictor.device.type == "cpu"
    size = _FACTS_IN_CACHE if small else _FACTS_AT_ONCE
    with scoring(predictor):
        pieces = [predictor.score(*piece.to(predictor.device).unbind(1)) for piece in ids.split(size)]
    scores: NDArray[np.float64] = torch.cat(pieces).double().cpu().numpy()
    if np.isnan(scores).any():
        raise not_numbers()
    return scores


def check_facts(facts: Facts, predictor: Ranker) -> None:
    """Refuse facts that are not rows of three ids which the predictor knows."""
    if facts.ndim != 2 or facts.shape[1] != 3 or not np.issubdtype(facts.dtype, np.integer):
        raise InputError(
            f"facts must be integer rows of subject, relation and object ids, shape [facts, 3]; "
            f"found {facts.dtype} of shape {list(facts.shape)}"
        )
    limits = np.array([predictor.num_entities, predictor.num_relations, predictor.num_entities])
    outside = np.flatnonzero(((facts < 0) | (facts >= limits)).any(axis=1))
    if len(outside):
        row = int(outside[0])
        raise InputError(
            f"fact {row} has ids {facts[row].tolist()}, but the link predictor knows "
            f"{count(limits[0], 'entity', 'entities')} and {count(limits[1], 'relation')}; "
            "read the facts with its vocabulary"
        )


def not_numbers() -> RunError:
    """Return the error for scores that are NaN: they are neither good nor bad, and must not be ranked."""
    return RunError(
        "the link predictor gives scores that are not numbers (NaN), so it cannot be evaluated; its training "
        "has probably diverged: lower the learning rate or the weight of the clauses"
    )
