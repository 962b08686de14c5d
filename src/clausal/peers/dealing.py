"""Dealing: the rows of a table are dealt over processes at random, so that each has a fair sample of all of them.

The order of dealing is drawn from a seed and does not depend on how many processes there are: row number n of that
order goes to process n modulo their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


def most_work(work: int, size: int) -> int:
    """Return how much of some work one of several processes does at most: a tenth more than its fair share."""
    return -(-11 * work // (10 * size)) + 1


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

    def order_of(self, ids: Tensor) -> Tensor:
        """Return the place of each row in the order of dealing."""
        return ids if self.order is None else self.order[ids].long()

    def owners(self, ids: Tensor) -> Tensor:
        """Return the process that has each row."""
        return torch.zeros_like(ids) if self.order is None else (self.order[ids] % self.size).long()

    def places(self, ids: Tensor) -> Tensor:
        """Return where each row lies in the memory of the process that has it."""
        return ids if self.order is None else (self.order[ids] // self.size).long()

    def share(self, ids: Tensor) -> Tensor:
        """Deal work that is nearest to some rows: return the places of what this process does [share].

        It does what its own rows ask for, up to a tenth more than its fair share; what is beyond goes to processes that
        have less. Each process finds out the same.
        """
        most = most_work(len(ids), self.size)
        owners = self.owners(ids)
        by_owner = owners.argsort(stable=True)
        counts = torch.bincount(owners, minlength=self.size)
        starts = counts.cumsum(0) - counts
        place = torch.arange(len(ids), device=ids.device) - starts[owners[by_owner]]  # among those of its owner
        beyond = by_owner[place >= most]
        room = (most - counts).clamp_min(0)
        end = room.cumsum(0)
        own = by_owner[starts[self.rank] : starts[self.rank] + counts[self.rank].clamp_max(most)]
        return torch.cat([own, beyond[end[self.rank] - room[self.rank] : end[self.rank]]])

    def own_ids(self, device: torch.device | None = None) -> Tensor:
        """Return the ids of the rows of this process, in the order of its memory."""
        return torch.arange(self.rows, device=device) if self.own is None else self.own
