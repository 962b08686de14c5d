"""Rows of features, sparse or dense, which a linear map takes to vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from clausal.model.tensors import ranges


class Rows(nn.Module, ABC):
    """One row of features for each entity; they are data, not parameters, and no part of a model's state."""

    width: int
    """How many features there are."""

    @abstractmethod
    def __len__(self) -> int:
        """Return how many rows there are."""

    @abstractmethod
    def map(self, ids: Tensor, weight: Tensor, dropout: float = 0.0) -> Tensor:
        """Return the products of rows [n] and a matrix [width, dim].

        ``dropout`` of the features are left out, where each says something by itself, as n-grams do.
        """

    @abstractmethod
    def followed_by(self, other: Rows) -> Rows:
        """Return these rows, and others of the same width after them."""

    @abstractmethod
    def spread(self, places: Tensor, count: int) -> Rows:
        """Return ``count`` rows, these ones at sorted ``places`` and all others without features."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Return the rows as tensors by name."""


class SparseRows(Rows):
    """Rows of few features that are not 0: row i has columns[starts[i] : starts[i + 1]]."""

    starts: Tensor  # [rows + 1]
    columns: Tensor  # [numbers]
    values: Tensor  # [numbers]

    def __init__(self, starts: Tensor, columns: Tensor, values: Tensor, width: int) -> None:
        super().__init__()
        self.width = width
        for name, tensor in (("starts", starts), ("columns", columns), ("values", values)):
            self.register_buffer(name, tensor, persistent=False)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def map(self, ids: Tensor, weight: Tensor, dropout: float = 0.0) -> Tensor:
        start, stop = self.starts[ids], self.starts[ids + 1]
        _, places = ranges(start, stop)
        offsets = (stop - start).cumsum(0) - (stop - start)
        values = F.dropout(self.values[places], dropout, training=dropout > 0)
        return F.embedding_bag(self.columns[places].long(), weight, offsets, mode="sum", per_sample_weights=values)

    def followed_by(self, other: Rows) -> SparseRows:
        assert isinstance(other, SparseRows)
        return SparseRows(
            torch.cat([self.starts, self.starts[-1] + other.starts[1:]]),
            torch.cat([self.columns, other.columns]),
            torch.cat([self.values, other.values]),
            self.width,
        )

    def spread(self, places: Tensor, count: int) -> SparseRows:
        sizes = self.starts.new_zeros(count + 1)
        sizes[places.to(sizes.device) + 1] = self.starts.diff()
        return SparseRows(sizes.cumsum(0), self.columns, self.values, self.width)

    def tensors(self) -> dict[str, Tensor]:
        return {"starts": self.starts, "columns": self.columns, "values": self.values}


class DenseRows(Rows):
    """Rows of numbers, all zeros for an entity without any."""

    vectors: Tensor  # [rows, width]

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.width = vectors.shape[1]
        self.register_buffer("vectors", vectors, persistent=False)

    def __len__(self) -> int:
        return len(self.vectors)

    def map(self, ids: Tensor, weight: Tensor, dropout: float = 0.0) -> Tensor:
        return self.vectors[ids] @ weight

    def followed_by(self, other: Rows) -> DenseRows:
        assert isinstance(other, DenseRows)
        return DenseRows(torch.cat([self.vectors, other.vectors]))

    def spread(self, places: Tensor, count: int) -> DenseRows:
        vectors = self.vectors.new_zeros(count, self.width)
        vectors[places.to(vectors.device)] = self.vectors
        return DenseRows(vectors)

    def tensors(self) -> dict[str, Tensor]:
        return {"vectors": self.vectors}
