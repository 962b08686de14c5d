"""A table of entity vectors that is worked on by rows: those of a batch are fetched, and updated where they lie.

A step touches the rows of its batch and no others, so that the rows can be dealt over processes (``clausal.peers``),
kept in half the memory (bfloat16), and have one sum of squared gradients each in place of one for each number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from clausal.model.encoders import Table
from clausal.peers import ALONE, Dealing, Peers

if TYPE_CHECKING:
    from clausal.model.predictor import LinkPredictor

_AT_ONCE = 1 << 16
"""Rows that are drawn at a time."""


class RowTable(Table):
    """A trainable vector for each entity, of which this process has its share.

    ``sums`` are AdaGrad's sums of squared gradients: one for each number [own rows, dim], or one of the mean of a row's
    squares [own rows, 1]. Behind the own rows lie ``spare`` ones, for rows of other processes that a batch needs.
    """

    sums: Tensor

    def __init__(
        self,
        dim: int,
        dealing: Dealing,
        peers: Peers = ALONE,
        *,
        dtype: torch.dtype = torch.float32,
        by_row: bool = False,
        spare: int = 0,
        device: torch.device | None = None,
    ) -> None:
        nn.Module.__init__(self)
        self.dealing = dealing
        self.peers = peers
        rows = dealing.count()
        self.with_spare = torch.empty(rows + spare, dim, dtype=dtype, device=device)
        self.weight = nn.Parameter(self.with_spare[:rows])
        self.register_buffer("sums", torch.zeros(rows, 1 if by_row else dim, device=device), persistent=False)
        self._recorded: list[Batch] | None = None

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Initialise by Xavier's rule over the whole matrix; each process draws its own rows."""
        bound = math.sqrt(6 / (self.dealing.rows + self.weight.shape[1]))
        device = self.weight.device
        if self.dealing.size > 1 or device.type != "cpu":
            seed = int(torch.randint(1 << 62, (), generator=generator))  # one number, however many rows there are
            generator = torch.Generator(device).manual_seed(seed + self.dealing.rank)
        for rows in self.weight.split(_AT_ONCE):
            rows.copy_(torch.empty(rows.shape, device=device).uniform_(-bound, bound, generator=generator))

    def forward(self, ids: Tensor) -> Tensor:
        """Look up ids [...] → vectors [..., dim], wherever their rows lie; all processes look up at the same time."""
        distinct, places = ids.reshape(-1).unique(return_inverse=True)
        batch = self.fetch(distinct)
        if self._recorded is not None:
            self._recorded.append(batch)
            batch.rows.requires_grad_()
        return F.embedding(places.view(ids.shape), batch.rows)

    def own_vectors(self) -> Tensor:
        """Return the vectors of this process in single precision [own rows, dim]."""
        return self.weight.float()

    @staticmethod
    def of_vectors(vectors: Tensor, dealing: Dealing, peers: Peers) -> RowTable:
        """Return a table of vectors [own rows, dim] that is only read: it has no sums."""
        table = RowTable.__new__(RowTable)
        nn.Module.__init__(table)
        table.dealing, table.peers, table._recorded = dealing, peers, None
        table.weight = nn.Parameter(vectors.detach(), requires_grad=False)
        return table

    def in_single_precision(self) -> RowTable:
        return RowTable.of_vectors(self.own_vectors(), self.dealing, self.peers)

    def as_plain_table(self) -> Table:
        """Return the same vectors as a table like any other, of a process that has all of them."""
        table = Table(0, self.weight.shape[1])
        table.weight = nn.Parameter(self.own_vectors().detach())
        return table

    def random_own_vectors(self, shape: Sequence[int], generator: torch.Generator | None = None) -> Tensor:
        """Return the vectors of entities drawn among those of this process [*shape, dim]."""
        device = self.weight.device
        drawn = torch.randint(len(self.weight), tuple(shape), generator=generator, device=device)
        return self.weight.detach()[drawn].float()

    def largest(self, values: Tensor) -> Tensor:
        """Return the largest of each number over processes, of what each has found among its own rows."""
        return self.peers.largest_(values.clone())

    @torch.no_grad()
    def fetch(self, ids: Tensor) -> Batch:
        """Fetch the rows of distinct ids, in rising order, from the processes that have them."""
        dealing, peers = self.dealing, self.peers
        if peers.size == 1:
            return Batch(self, self.weight[ids].float(), ids)
        owners = dealing.owners(ids)
        by_owner = owners.argsort(stable=True)
        give = torch.bincount(owners, minlength=peers.size).tolist()
        take = peers.counts_from_all(give, ids.device)
        asked = peers.all_to_all(dealing.places(ids[by_owner]), give, take)
        found = peers.all_to_all(self.weight.index_select(0, asked), take, give)
        rows = torch.empty(found.shape, device=found.device)
        rows[by_owner] = found.float()
        return Batch(self, rows, asked, by_owner, give, take)

    @torch.no_grad()
    def fetch_into_spare(self, homes: Tensor) -> Batch:
        """Fetch the rows of distinct homes, in rising order, into the spare rows; none is copied a second time."""
        peers, own = self.peers, len(self.weight)
        borders = torch.arange(peers.size + 1, device=homes.device) * self.dealing.rows
        give = torch.searchsorted(homes, borders).diff().tolist()
        take = peers.counts_from_all(give, homes.device)
        asked = peers.all_to_all(homes % self.dealing.rows, give, take)
        spare = self.with_spare[own : own + len(homes)]
        return Batch(
            self, peers.all_to_all(self.weight.index_select(0, asked), take, give, spare), asked, None, give, take
        )

    @contextmanager
    def recording(self) -> Iterator[list[Batch]]:
        """Remember what is looked up, so that a step finds the gradients of the rows of each look-up."""
        self._recorded = []
        try:
            yield self._recorded
        finally:
            self._recorded = None

    def extra_repr(self) -> str:
        """Show the size in ``repr``."""
        rows, dim = self.weight.shape
        return f"rows={rows:,} of {self.dealing.rows:,}, dim={dim}, {self.weight.dtype}"


class Batch:
    """Distinct rows that were fetched [rows, dim], and the way back to where they lie."""

    def __init__(
        self,
        table: RowTable,
        rows: Tensor,
        asked: Tensor,
        by_owner: Tensor | None = None,
        give: Sequence[int] = (),
        take: Sequence[int] = (),
    ) -> None:
        self.table = table
        self.rows = rows
        self.asked = asked  # where the rows lie that other processes have asked this one for
        self._by_owner, self._give, self._take = by_owner, give, take

    def bring_home(self, gradient: Tensor) -> RowGradients:
        """Bring gradients [rows, dim] to the processes that have the rows; return those that came to this one."""
        found = self.bring_apart(gradient)
        return found[0] if len(found) == 1 else together(found)

    def bring_apart(self, gradient: Tensor) -> list[RowGradients]:
        """Bring gradients home; return those that came from each process, one for each row that it had asked for."""
        if self.table.peers.size == 1:
            return [RowGradients(self.asked, gradient)]
        sorted_by_owner = gradient if self._by_owner is None else gradient[self._by_owner]
        came = self.table.peers.all_to_all(sorted_by_owner, self._give, self._take)
        return list(map(RowGradients, self.asked.split(list(self._take)), came.split(list(self._take))))


class RowGradients(NamedTuple):
    """Gradients of rows of a table, which lie at some places of it."""

    places: Tensor  # [rows]
    gradients: Tensor  # [rows, dim]

    def summed(self) -> RowGradients:
        """Return one gradient for each row."""
        places, which = self.places.unique(return_inverse=True)
        return RowGradients(places, self.gradients.new_zeros(len(places), self.gradients.shape[1]).index_add_(
            0, which, self.gradients
        ))  # fmt: skip


def together(found: Sequence[RowGradients]) -> RowGradients:
    """Put gradients of rows together, one for each row."""
    if len(found) == 1:
        return found[0]
    return RowGradients(*(torch.cat(parts) for parts in zip(*found, strict=True))).summed()


def row_table(predictor: LinkPredictor) -> RowTable | None:
    """Return the table of a predictor that works by rows; None where it has another encoder."""
    return predictor.encoder if isinstance(predictor.encoder, RowTable) else None


def peers_of(predictor: LinkPredictor) -> Peers:
    """Return the processes that a predictor is dealt over."""
    table = row_table(predictor)
    return ALONE if table is None else table.peers
