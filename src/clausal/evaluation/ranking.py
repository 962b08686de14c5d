"""Ranking: the place of each fact among all entities on either side, raw and filtered at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.choices import Ties
from clausal.errors import RunError
from clausal.evaluation.counting import Counting, QueryBatch
from clausal.evaluation.known import Ids, Known, KnownAnswers, object_queries, subject_queries
from clausal.evaluation.protocol import Ranker, check_facts, not_numbers, scoring
from clausal.evaluation.ranks import Counts, Ranks, Side, check_ties
from clausal.evaluation.shared import SharedCounting, shared_table
from clausal.fast import fastest
from clausal.graph.graph import Facts
from clausal.observer import Observer, replaces

DEFAULT_MEMORY = 64 * 2**20
"""Bytes for the scores of one batch: on a CPU, more is no faster and less is slower."""
FEWEST_QUERIES = 16
"""Queries in a batch unless memory is set: a batch reads all entities, which costs most where there are millions."""


@replaces(progress=("advanced", lambda what, done, total, unit: (done, total)))
def rank(
    predictor: Ranker,
    facts: Facts,
    known: Known,
    *,
    ties: Ties = "realistic",
    memory: int | None = None,
    observer: Observer | None = None,
) -> Ranks:
    """Rank ``facts`` on both sides; other ``known`` facts are left out of the filtered ranks.

    Queries are scored in batches whose scores, with the work space to count them, take at most ``memory``
    bytes, or one at a time where a single query takes more; if it is not set, 64 MiB, or 16 queries where those
    take more.
    """
    check_ties(ties)
    check_facts(facts, predictor)
    entities, relations = predictor.num_entities, predictor.num_relations
    table = shared_table(predictor)
    sides: dict[Side, _SideRanking] = {
        "subject": _SideRanking(
            subject_queries(facts, entities),
            facts[:, 0],
            known.subjects,
            lambda queries: predictor.score_subjects(queries // entities, queries % entities),
        ),
        "object": _SideRanking(
            object_queries(facts, relations),
            facts[:, 2],
            known.objects,
            lambda queries: predictor.score_objects(queries // relations, queries % relations),
        ),
    }
    raw: dict[Side, Counts] = {}
    filtered: dict[Side, Counts] = {}
    done = 0
    with scoring(predictor):
        sample = predictor.score(*torch.from_numpy(facts[:1].astype(np.int64)).to(predictor.device).unbind(dim=1))
        looked_at = 2 * len(facts) * entities
        if table is not None:
            count: Counting = SharedCounting(table)
        else:
            count = fastest(Counting, sample, looked_at)(sample, looked_at)
        rows = _queries_at_once(entities, sample.element_size() + count.bytes_per_score, memory)
        for side, task in sides.items():
            batches = []
            for counts in task.batches(predictor, rows, count):
                batches.append(counts)
                done += counts.shape[1]
                if observer is not None:
                    observer.advanced("ranking", done, 2 * len(facts), "ranks")
            raw[side], filtered[side] = task.settle(batches)
    return Ranks(filtered, raw, ties)


def _queries_at_once(entities: int, score_bytes: int, memory: int | None) -> int:
    query_bytes = max(1, entities) * score_bytes
    if memory is None:
        return max(FEWEST_QUERIES, DEFAULT_MEMORY // query_bytes)
    return max(1, memory // query_bytes)


class _SideRanking:
    """One side: each distinct query is scored once, those with most facts first."""

    def __init__(
        self,
        queries: Ids,
        targets: NDArray[np.integer],
        answers: KnownAnswers,
        score: Callable[[Tensor], Tensor],
    ) -> None:
        distinct, inverse, sizes = np.unique(queries, return_inverse=True, return_counts=True)
        most_first = np.argsort(-sizes, kind="stable")
        place = np.empty_like(most_first)
        place[most_first] = np.arange(len(distinct))
        self.order = np.argsort(place[inverse], kind="stable")
        self.queries = distinct[most_first]
        self.targets = targets[self.order].astype(np.int64)
        self.target_starts = _starts(sizes[most_first])
        self.known, known_sizes = answers.find(self.queries)
        self.known_starts = _starts(known_sizes)
        self.target_is_known = answers.contain(queries, targets)
        self.score = score

    def batches(self, predictor: Ranker, rows: int, count: Counting) -> Iterator[Tensor]:
        """Score ``rows`` queries at a time and yield the four counts of their facts, in ``order``."""
        queries, targets, known = (
            torch.from_numpy(array).to(predictor.device) for array in (self.queries, self.targets, self.known)
        )
        rows = min(rows, len(queries))
        entities = predictor.num_entities
        for start in range(0, len(queries), max(rows, 1)):
            stop = min(start + rows, len(queries))
            target_starts = self.target_starts[start : stop + 1]
            known_starts = self.known_starts[start : stop + 1]
            batch = QueryBatch(
                targets[target_starts[0] : target_starts[-1]],
                (target_starts - target_starts[0]).tolist(),
                known[known_starts[0] : known_starts[-1]],
                (known_starts - known_starts[0]).tolist(),
            )
            yield self._count(queries[start:stop], batch, entities, count)

    def _count(self, queries: Tensor, batch: QueryBatch, entities: int, count: Counting) -> Tensor:
        """Score and count in a frame of its own, so that two batches of scores never live at once."""
        scores = self.score(queries)
        entities = count.table.dealing.count() if isinstance(count, SharedCounting) else entities
        _check_scores(scores, len(queries), entities)
        return count(scores, batch)

    def settle(self, batches: list[Tensor]) -> tuple[Counts, Counts]:
        """Turn the counts of all batches into raw and filtered counts, in the order the facts were given."""
        counts = np.zeros((4, len(self.order)), dtype=np.int64)
        if batches:
            counts[:, self.order] = torch.cat(batches, dim=1).cpu().numpy()
        greater, at_least, known_greater, known_at_least = counts
        equal = at_least - greater - 1
        known_equal = known_at_least - known_greater - self.target_is_known
        return Counts(greater, equal), Counts(greater - known_greater, equal - known_equal)


def _starts(sizes: Ids) -> Ids:
    """Return where each of consecutive groups starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)])


def _check_scores(scores: Tensor, queries: int, entities: int) -> None:
    if scores.shape != (queries, entities):
        raise RunError(
            f"the link predictor returned scores of shape {list(scores.shape)} for {queries} queries "
            f"over {entities} entities; expected [{queries}, {entities}]"
        )
    if (
        scores.numel() and scores.amax().isnan()
    ):  # the greatest of anything and not-a-number is not-a-number: one pass, no copy
        raise not_numbers()
