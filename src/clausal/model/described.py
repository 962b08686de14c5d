"""An encoder of described entities: h(a) = proj(own vector + Σ map(features)), so that features alone can do.

A map is linear, and of vectors and sentence embeddings it can have a hidden layer beside: x ↦ Wx + V gelu(Ux + b). In
training the own vector of an entity is left out now and then, so that its features have to say what they can. An
entity that was never trained, whose own vector is 0, gets a vector by its features. It lies in the domain like any
other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from clausal.model.domains import Cone, Domain
from clausal.model.features import DenseRows, Features, Rows


class DescribedEncoder(nn.Module):
    """Maps ids to vectors in a domain by own vectors and features."""

    def __init__(
        self,
        features: Sequence[Features],
        dim: int,
        domain: Domain,
        *,
        own_dropout: float = 0.5,
        feature_dropout: float = 0.2,
        hidden: int = 0,
    ) -> None:
        super().__init__()
        self.features = tuple(features)
        self.rows = nn.ModuleList(one.rows for one in features)
        self.domain = domain
        self.own_dropout = own_dropout
        self.feature_dropout = feature_dropout
        own = torch.zeros(len(features[0].rows), dim)
        self.own = nn.Parameter(own, requires_grad=own_dropout < 1)  # always left out, they stay 0
        self.maps = nn.ParameterList(torch.empty(one.rows.width, dim) for one in features)
        self.hidden = hidden
        dense = [place for place, one in enumerate(features) if hidden and isinstance(one.rows, DenseRows)]
        self.layers = nn.ModuleDict(
            {str(place): HiddenLayer(features[place].rows.width, hidden, dim) for place in dense}
        )
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw maps that give vectors of length about 1; own vectors start at 0, where those never trained stay."""
        self.own.zero_()
        for weight in self.maps:
            weight.normal_(0, weight.shape[1] ** -0.5, generator=generator)
        for place, layer in self._layers():
            self.maps[place].mul_(len(layer.inward) ** -0.5)  # it takes longer features
            layer.reset_parameters(generator)

    @torch.no_grad()
    def scale_(self, factor: float) -> None:
        """Multiply what is drawn at random."""
        for weight in self.maps:
            weight.mul_(factor)
        for _, layer in self._layers():
            layer.outward.mul_(factor)

    def _layers(self) -> Iterator[tuple[int, HiddenLayer]]:
        for place, layer in self.layers.items():
            assert isinstance(layer, HiddenLayer)
            yield int(place), layer

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids [...] → vectors [..., dim] in the domain; each entity is encoded once."""
        distinct, places = ids.unique(return_inverse=True)
        return F.embedding(places, self._encode(distinct))

    def _encode(self, ids: Tensor) -> Tensor:
        vectors = F.embedding(ids, self.own)
        if self.training and self.own_dropout:
            kept = torch.rand(len(ids), 1, device=vectors.device) >= self.own_dropout
            vectors = vectors * kept
        return project_with_way_back(self.domain, vectors + self.mapped(ids))

    def mapped(self, ids: Tensor) -> Tensor:
        """Return what the features say of each entity [n, dim]."""
        dropout = self.feature_dropout if self.training else 0.0
        said = torch.zeros((), device=ids.device)
        for place, (rows, weight) in enumerate(zip(self.rows, self.maps, strict=True)):
            assert isinstance(rows, Rows)
            if str(place) in self.layers:
                assert isinstance(rows, DenseRows)
                features = rows.vectors[ids] * rows.width**0.5  # each number of variance about 1, as hidden units are
                said = said + features @ weight + self.layers[str(place)](features, dropout)
            else:
                said = said + rows.map(ids, weight, dropout)
        return said

    @torch.no_grad()
    def extended(self, features: Sequence[Features]) -> DescribedEncoder:
        """Return this encoder for features of more entities, which have no own vectors."""
        more = DescribedEncoder(
            features,
            self.own.shape[1],
            self.domain,
            own_dropout=self.own_dropout,
            feature_dropout=self.feature_dropout,
            hidden=self.hidden,
        )
        more.own = nn.Parameter(F.pad(self.own, (0, 0, 0, len(features[0].rows) - len(self.own))))
        more.maps, more.layers = self.maps, self.layers
        return more.to(self.own.device).train(self.training)

    def extra_repr(self) -> str:
        """Show the kinds of features in ``repr``."""
        return ", ".join(f"{one.kind}={one.rows.width}" for one in self.features)


class HiddenLayer(nn.Module):
    """V gelu(Ux + b): what a linear map of features x cannot say, such as what only some entities are told by.

    An entity without features is told nothing by it: gelu(b) counts where there are some alone.
    """

    def __init__(self, width: int, hidden: int, dim: int) -> None:
        super().__init__()
        self.inward = nn.Parameter(torch.empty(width, hidden))
        self.bias = nn.Parameter(torch.empty(hidden))
        self.outward = nn.Parameter(torch.empty(hidden, dim))

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw weights that give units of variance about 1 before gelu, and vectors of length below 1."""
        self.inward.normal_(0, len(self.inward) ** -0.5, generator=generator)
        self.bias.zero_()
        self.outward.normal_(0, self.outward.numel() ** -0.5, generator=generator)

    def forward(self, features: Tensor, dropout: float) -> Tensor:
        """Map features [n, width] → [n, dim]; ``dropout`` of the hidden units are left out."""
        units = F.dropout(F.gelu(features @ self.inward + self.bias), dropout, training=dropout > 0)
        return (units @ self.outward) * (features != 0).any(1, keepdim=True)


def project_with_way_back(domain: Domain, vectors: Tensor) -> Tensor:
    """Project onto the domain; a number that was clipped still has the gradient that leads back inside.

    The gradient of clipping is 0 outside, where a number would stay for ever. Vectors of a table have no such
    trouble, as they are projected after a step and not on the way of their gradient.
    """
    projection = domain.projection
    if isinstance(domain, Cone):
        low = domain.lowest(vectors)
        clipped: Tensor = _Clip.apply(vectors, low, torch.full_like(low, torch.inf))
    elif projection is not None and projection.kind == "clip":
        clipped = _Clip.apply(vectors, projection.low, projection.high)
    else:
        clipped = domain.project(vectors)
    return clipped


class _Clip(torch.autograd.Function):
    """min(max(x, low), high), with the gradients of all steps that do not lead further outside."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, low: Any, high: Any) -> Tensor:
        ctx.save_for_backward(vectors)
        ctx.limits = low, high
        return vectors.clamp(low, high)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (vectors,), (low, high) = ctx.saved_tensors, ctx.limits
        outward = ((vectors < low) & (gradient > 0)) | ((vectors > high) & (gradient < 0))
        return gradient.masked_fill(outward, 0.0), None, None
