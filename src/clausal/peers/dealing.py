"""Dealing: the rows of a table are dealt over processes at random, so that each has a fair sample of all of them.

The order of dealing is drawn from a seed and does not depend on how many processes there are: row number n of that
order goes to process n modulo their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Dealing:
    """Which process has which rows; one process alone has them in their own order."""

    rows: int
    rank: int = 0
    size: int = 1
    order: Tensor | None = None  # [rows], the place of each row in the order of dealing
    own: Tensor | None = None  # [own rows], the rows of this process, in the order of its memory

    @staticmethod
    def of(rows: int, rank: int, size: int, seed: int, device: torch.device | None = None) -> Dealing:
        """Deal rows over ``size`` processes, as process ``rank`` sees it."""
        if size == 1:
            return Dealing(rows)
        dealt = torch.randperm(rows, generator=torch.Generator().manual_seed(seed))
        order = torch.empty(rows, dtype=torch.int32)
        order[dealt] = torch.arange(rows, dtype=torch.int32)
        return Dealing(rows, rank, size, order.to(device), dealt[rank::size].clone().to(device))

    def count(self) -> int:
        """Return how many rows this process has."""
        return self.rows if self.own is None else len(self.own)

    def homes(self, ids: Tensor) -> Tensor:
        """Return one number for where each row lies, process after process: ``rows`` times the process, plus the place.

        So rows in the order of their homes are those of the first process, then those of the second, …
        """
        if self.order is None:
            return ids
        order = self.order[ids].long()
        return order % self.size * self.rows + order // self.size

    def owners(self, ids: Tensor) -> Tensor:
        """Return the process that has each row."""
        return torch.zeros_like(ids) if self.order is None else (self.order[ids] % self.size).long()

    def places(self, ids: Tensor) -> Tensor:
        """Return where each row lies in the memory of the process that has it."""
        return ids if self.order is None else (self.order[ids] // self.size).long()

    def own_ids(self, device: torch.device | None = None) -> Tensor:
        """Return the ids of the rows of this process, in the order of its memory."""
        return torch.arange(self.rows, device=device) if self.own is None else self.own


class Blocks(Dealing):
    """Rows in their own order, a block for each process: what is only read can lie as it does in its file."""

    @property
    def block(self) -> slice:
        """The rows of this process."""
        return slice(*(self.rows * rank // self.size for rank in (self.rank, self.rank + 1)))

    def count(self) -> int:
        return self.block.stop - self.block.start

    def homes(self, ids: Tensor) -> Tensor:
        return self.owners(ids) * self.rows + self.places(ids)

    def owners(self, ids: Tensor) -> Tensor:
        return ((ids + 1) * self.size - 1) // self.rows

    def places(self, ids: Tensor) -> Tensor:
        return ids - self.rows * self.owners(ids) // self.size

    def own_ids(self, device: torch.device | None = None) -> Tensor:
        return torch.arange(self.block.start, self.block.stop, device=device)
