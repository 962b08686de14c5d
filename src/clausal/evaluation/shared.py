"""Ranking over processes that each have some of the entities: each counts among its own, and the counts are summed."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.errors import InputError
from clausal.evaluation.counting import Counting, QueryBatch
from clausal.model.predictor import LinkPredictor
from clausal.model.row_table import RowTable

_COMPARED_AT_ONCE = 1 << 25


class SharedCounting(Counting):
    """The four counts of ranking, for scores [queries, own rows] of which every process has its own."""

    def __init__(self, table: RowTable) -> None:
        self.table = table

    def __call__(self, scores: Tensor, batch: QueryBatch) -> Tensor:
        dealing, peers = self.table.dealing, self.table.peers
        queries = torch.arange(len(scores), device=scores.device)
        of_targets, of_known = (
            queries.repeat_interleave(torch.tensor(starts, device=scores.device).diff())
            for starts in (batch.target_starts, batch.known_starts)
        )
        own = dealing.owners(batch.targets) == dealing.rank
        wanted = torch.zeros(len(batch.targets), dtype=scores.dtype, device=scores.device)
        wanted[own] = scores[of_targets[own], dealing.places(batch.targets[own])]
        peers.sum_(wanted)  # of which one process has each, and the others add 0
        counts = torch.zeros(4, len(wanted), dtype=torch.int64, device=scores.device)
        at_once = max(1, _COMPARED_AT_ONCE // max(1, scores.shape[1]))
        for start in range(0, len(wanted), at_once):
            part = slice(start, start + at_once)
            compared = scores[of_targets[part]]
            counts[0, part] = (compared > wanted[part, None]).sum(1)
            counts[1, part] = (compared >= wanted[part, None]).sum(1)
        known = dealing.owners(batch.known) == dealing.rank
        self._count_known(scores, wanted, of_targets, of_known[known], dealing.places(batch.known[known]), counts)
        return peers.sum_(counts)

    @staticmethod
    def _count_known(
        scores: Tensor, wanted: Tensor, of_targets: Tensor, of_known: Tensor, places: Tensor, counts: Tensor
    ) -> None:
        """Count among known answers: each is compared with every target of its query."""
        known = scores[of_known, places]
        first = torch.searchsorted(of_targets, of_known)
        sizes = torch.searchsorted(of_targets, of_known, right=True) - first
        which = torch.arange(len(known), device=scores.device).repeat_interleave(sizes)
        begins = (sizes.cumsum(0) - sizes)[which]
        target = first[which] + torch.arange(len(which), device=scores.device) - begins
        counts[2].index_add_(0, target, (known[which] > wanted[target]).long())
        counts[3].index_add_(0, target, (known[which] >= wanted[target]).long())


def shared_table(ranker: object) -> RowTable | None:
    """Return the table of a ranker's predictor whose rows are dealt over several processes; None for any other."""
    table = getattr(getattr(ranker, "predictor", ranker), "encoder", None)
    return table if isinstance(table, RowTable) and table.peers.size > 1 else None


def require_whole(predictor: LinkPredictor) -> LinkPredictor:
    """Refuse a predictor whose entities are dealt over processes, where the vectors of all are needed at once."""
    if shared_table(predictor) is not None:
        raise InputError(
            "the vectors of entities are dealt over several processes, and this looks at all of them in one; ask it of "
            "one process"
        )
    return predictor
