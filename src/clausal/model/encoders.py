"""The encoder h: entity → vector. A trainable table, a frozen table of pre-trained vectors, or any ``nn.Module``.

Any module that maps entity ids [...] to vectors [..., dim] is an encoder. Tables are projected onto the
domain row by row after each step; the output of any other module is projected on its way out.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from clausal.model.tensors import xavier_


class Table(nn.Module):
    """A trainable vector for each entity."""

    def __init__(self, rows: int, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, dim))
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Initialise by Xavier's rule over the whole matrix."""
        xavier_(self.weight, generator)

    def own_vectors(self) -> Tensor:
        """Return all vectors that this process has, in single precision [rows, dim]."""
        return self.weight

    def in_single_precision(self) -> Table:
        """Return the same table with numbers in single precision, for as long as it is only read."""
        return self

    def forward(self, ids: Tensor) -> Tensor:
        """Look up ids [...] → vectors [..., dim]."""
        return F.embedding(ids, self.weight)

    def extra_repr(self) -> str:
        """Show the size in ``repr``."""
        return f"rows={self.weight.shape[0]}, dim={self.weight.shape[1]}"


class FrozenTable(Table):
    """Pre-trained vectors that training does not change; the predictor projects them onto its domain once."""

    def __init__(self, vectors: Tensor) -> None:
        nn.Module.__init__(self)
        self.weight = nn.Parameter(vectors.clone(), requires_grad=False)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Keep the pre-trained vectors."""
