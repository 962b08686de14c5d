"""Peers: the processes that work together, as one of them sees the others; a process alone has none.

All of them run the same program, so that each asks for the same exchange at the same time. What an exchange sends is
counted. No object is sent, only numbers, so that nothing from outside is ever unpickled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from clausal.errors import RunError

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup


RESUME = "what was saved can go on with --resume, with any number of processes"
"""What to do after a process of a training was lost."""


class Peers:
    """A process alone: an exchange gives back what it was given, and nothing is sent."""

    rank = 0
    size = 1
    sent = 0
    """How many bytes this process has sent to others."""

    @property
    def first(self) -> bool:
        """Whether this is the process that writes and speaks for all."""
        return self.rank == 0

    def counts_from_all(self, counts: Sequence[int], device: torch.device) -> list[int]:
        """Tell each process a number, and return the numbers that they tell this one."""
        return list(counts)

    def all_to_all(
        self, values: Tensor, give: Sequence[int], take: Sequence[int], into: Tensor | None = None
    ) -> Tensor:
        """Give rows [Σ give, …] to processes, in their order, and return those that they give [Σ take, …].

        They are written ``into`` a tensor of their size, where there is one.
        """
        return values if into is None else into.copy_(values)

    def sum_(self, values: Tensor) -> Tensor:
        """Replace numbers by their sums over processes."""
        return values

    def largest_(self, values: Tensor) -> Tensor:
        """Replace numbers by the largest of each over processes."""
        return values

    def from_first_(self, values: Tensor) -> Tensor:
        """Replace numbers by those of the first process."""
        return values

    def from_all(self, values: Tensor) -> Tensor:
        """Return the numbers of all processes, which have as many [processes, …]."""
        return values.unsqueeze(0)

    def wait(self) -> None:
        """Wait until all processes have come as far."""


ALONE = Peers()


class Group(Peers):
    """Several processes, by torch.distributed: gloo on CPUs, NCCL on GPUs; ``advice`` is for when one is lost."""

    def __init__(self, group: ProcessGroup | None = None, advice: str = RESUME) -> None:
        from torch import distributed

        self._torch, self._group, self._advice = distributed, group, advice
        self.rank, self.size = distributed.get_rank(group), distributed.get_world_size(group)

    def counts_from_all(self, counts: Sequence[int], device: torch.device) -> list[int]:
        one = [1] * self.size
        taken: list[int] = self.all_to_all(torch.tensor(counts, device=device), one, one).tolist()
        return taken

    def all_to_all(
        self, values: Tensor, give: Sequence[int], take: Sequence[int], into: Tensor | None = None
    ) -> Tensor:
        values = values.contiguous()
        taken = values.new_empty(sum(take), *values.shape[1:]) if into is None else into
        with self._explained():
            # As bytes, as gloo does not know every kind of number.
            self._torch.all_to_all_single(_bytes(taken), _bytes(values), list(take), list(give), group=self._group)
        row = values[:1].nbytes if len(values) else 0
        self.sent += row * (sum(give) - give[self.rank])
        return taken

    def sum_(self, values: Tensor) -> Tensor:
        return self._reduce_(values, self._torch.ReduceOp.SUM)

    def largest_(self, values: Tensor) -> Tensor:
        return self._reduce_(values, self._torch.ReduceOp.MAX)

    def from_first_(self, values: Tensor) -> Tensor:
        with self._explained():
            self._torch.broadcast(values, 0, group=self._group)
        self.sent += values.nbytes if self.first else 0
        return values

    def from_all(self, values: Tensor) -> Tensor:
        own = values.contiguous()
        found = own.new_empty(self.size, *own.shape)
        with self._explained():
            self._torch.all_gather(list(found), own, group=self._group)
        self.sent += own.nbytes * (self.size - 1)
        return found

    def wait(self) -> None:
        with self._explained():
            self._torch.barrier(group=self._group)

    def _reduce_(self, values: Tensor, how: Any) -> Tensor:
        if not values.numel():
            return values
        with self._explained():
            self._torch.all_reduce(values, how, group=self._group)
        self.sent += 2 * values.nbytes * (self.size - 1) // self.size  # around a ring
        return values

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what torch says when a peer is gone into one message."""
        try:
            yield
        except RuntimeError as error:
            raise LostPeerError(error, self._advice) from None


def _bytes(values: Tensor) -> Tensor:
    """View rows as rows of bytes."""
    return values.view(torch.uint8).view(len(values), -1) if values.numel() else values.new_empty(0, 1).byte()


class LostPeerError(RunError):
    """Another process has ended, or cannot be reached."""

    def __init__(self, error: BaseException, advice: str) -> None:
        reason = str(error).strip().split("\n")[0]
        super().__init__(
            f"another process has ended or cannot be reached, so this one ends too; {advice} "
            f"(torch says: {reason[:200]})"
        )
