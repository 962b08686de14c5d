"""The part of a model that moves, with what is near it: a small model of its own, whatever the size of the whole.

It holds the vectors that may move, those that their facts need, and a random sample of all others to compare with.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from clausal.model.domains import Unbounded
from clausal.model.predictor import LinkPredictor


class _PartlyFrozen(nn.Module):
    """A table whose last rows move; ``moving`` are these rows themselves, not a copy."""

    def __init__(self, frozen: Tensor, moving: Tensor) -> None:
        super().__init__()
        self.still = len(frozen)
        self.table = nn.Parameter(torch.cat([frozen, moving]))
        self.moving = nn.Parameter(self.table.data[self.still :])
        self.moving.grad = torch.zeros_like(self.moving)

    def forward(self, ids: Tensor) -> Tensor:
        """Look up ids [...] → vectors [..., dim]."""
        return F.embedding(ids, self.table, sparse=True)

    def backward(self, loss: Tensor) -> None:
        """Add the gradient of a loss to that of the rows that move."""
        loss.backward()
        assert self.moving.grad is not None
        assert self.table.grad is not None
        # Not coalesced: that would sort rows that are only added up.
        rows, values = self.table.grad._indices()[0], self.table.grad._values()
        moves = torch.nonzero(rows >= self.still).flatten()
        self.moving.grad.index_add_(0, rows[moves] - self.still, values[moves])
        self.table.grad = None


@dataclass(frozen=True, eq=False)
class Nearby:
    """A small model over its own ids: first what is frozen, sorted as in the whole model, then what moves.

    ``sample`` are ids of entities drawn at random, which stand for all ``others``: those that do not move, or all where
    most of a graph moves.
    """

    predictor: LinkPredictor
    frozen: Tensor  # ids in the whole model, sorted
    moving: Tensor  # ids in the whole model, sorted
    sample: Tensor
    others: int

    @staticmethod
    def of(
        whole: LinkPredictor, moving: Tensor, vectors: Tensor, needed: Tensor, most: int, generator: torch.Generator
    ) -> Nearby:
        """Make the model of moving entities (sorted ids, vectors) and of all that is ``needed`` (any ids) beside them.

        At most ``most`` others are drawn to compare with. Relations and the scorer are those of the whole model.
        """
        still = torch.ones(whole.num_entities, dtype=torch.bool, device=whole.device)
        still[moving[moving < whole.num_entities]] = False
        few = 2 * int(still.sum()) < whole.num_entities
        others = torch.arange(whole.num_entities, device=whole.device) if few else torch.nonzero(still).flatten()
        drawn = torch.randperm(len(others), generator=generator)[:most].to(whole.device)
        sample = others[drawn].sort().values
        needed = torch.cat([sample, needed])
        frozen = torch.unique(needed[~torch.isin(needed, moving)])
        encoder = _PartlyFrozen(whole.encode(frozen).detach(), vectors)
        small = type(whole)(
            encoder,
            whole.scorer,
            num_entities=len(frozen) + len(moving),
            num_relations=whole.num_relations,
            domain=Unbounded(),  # what moves is projected once a step
        )
        small.relations = nn.Parameter(whole.relations.detach(), requires_grad=False)
        places = _places(sample, frozen, moving)
        return Nearby(small.eval(), frozen, moving, places, max(1, len(others)))

    @property
    def scale(self) -> float:
        """How many entities each one of the sample stands for."""
        return self.others / max(1, len(self.sample))

    @property
    def vectors(self) -> nn.Parameter:
        """The vectors that move [moving, dim]."""
        assert isinstance(self.predictor.encoder, _PartlyFrozen)
        return self.predictor.encoder.moving

    def backward(self, loss: Tensor) -> None:
        """Add the gradient of a loss to that of the vectors that move."""
        assert isinstance(self.predictor.encoder, _PartlyFrozen)
        self.predictor.encoder.backward(loss)

    @property
    def sampled_vectors(self) -> Tensor:
        """The vectors of the sample [sample, dim]."""
        return self.predictor.encode(self.sample).detach()

    @property
    def moving_ids(self) -> Tensor:
        """The ids here of what moves."""
        return torch.arange(len(self.frozen), self.predictor.num_entities, device=self.frozen.device)

    def ids(self, entities: Tensor) -> Tensor:
        """Return the ids here of entities of the whole model, of any shape."""
        return _places(entities, self.frozen, self.moving)

    def facts(self, facts: Tensor) -> Tensor:
        """Return facts [facts, 3] with the ids here."""
        return torch.stack([self.ids(facts[:, 0]), facts[:, 1], self.ids(facts[:, 2])], 1)


def _places(entities: Tensor, frozen: Tensor, moving: Tensor) -> Tensor:
    """Return the places of entities, of any shape, in a table of frozen rows and moving ones after them."""
    entities = entities.contiguous()
    moved = torch.searchsorted(moving, entities) + len(frozen)
    return torch.where(torch.isin(entities, moving), moved, torch.searchsorted(frozen, entities))
