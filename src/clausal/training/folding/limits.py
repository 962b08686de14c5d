"""Where vectors may move: in the domain, and in what certificates take for it where the domain has no bounds.

A certificate of a model without a bounded domain is over the discs, or the box, around its entities. A vector that
stays inside them leaves every such certificate as it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.adversary.regions import resolved
from clausal.model.domains import Domain
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import Scorer

_ENTITIES_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class Limits:
    """The domain, and around the entities of a model either the discs of a radius or the box [low, high]."""

    domain: Domain
    scorer: Scorer
    radius: Tensor | None = None  # [components]
    low: Tensor | None = None  # [components, size]
    high: Tensor | None = None

    @staticmethod
    @torch.no_grad()
    def of(predictor: LinkPredictor) -> Limits:
        """Return the limits that leave the certificates of a model as they are."""
        domain, scorer, region = predictor.domain, predictor.scorer, resolved("auto", predictor)
        if region == "domain":
            return Limits(domain, scorer)
        ids = torch.arange(predictor.num_entities, device=predictor.device).split(_ENTITIES_AT_ONCE)
        pieces = (scorer.components(predictor.encode(some)) for some in ids)
        if region == "discs":
            longest = [torch.linalg.vector_norm(piece, dim=-1).amax(0) for piece in pieces]
            return Limits(domain, scorer, radius=torch.stack(longest).amax(0))
        ends = [(piece.amin(0), piece.amax(0)) for piece in pieces]
        low, high = (torch.stack(end) for end in zip(*ends, strict=True))
        return Limits(domain, scorer, low=low.amin(0), high=high.amax(0))

    @torch.no_grad()
    def project_(self, vectors: Tensor) -> Tensor:
        """Move vectors [..., dim] inside, in place."""
        self.domain.project_(vectors)
        if self.radius is not None:
            components = self.scorer.components(vectors)
            lengths = torch.linalg.vector_norm(components, dim=-1)
            shorter = _below(self.radius / lengths.clamp_min(torch.finfo(lengths.dtype).tiny))
            inside = torch.where((lengths > self.radius).unsqueeze(-1), components * shorter.unsqueeze(-1), components)
            vectors.copy_(self.scorer.join(inside))
        elif self.low is not None:
            vectors.copy_(self.scorer.join(self.scorer.components(vectors).clamp(self.low, self.high)))
        return vectors

    def contain(self, vectors: Tensor) -> bool:
        """Say whether all vectors lie inside, up to the rounding of a projection."""
        inside = bool(self.domain.contains(vectors).all())
        components = self.scorer.components(vectors)
        if self.radius is not None:
            return inside and bool((torch.linalg.vector_norm(components, dim=-1) <= self.radius).all())
        if self.low is not None and self.high is not None:
            return inside and bool(((components >= self.low) & (components <= self.high)).all())
        return inside


def _below(share: Tensor) -> Tensor:
    """Return a little less, so that a product rounded up is no longer than it may be."""
    return share * (1 - 4 * torch.finfo(share.dtype).eps)
