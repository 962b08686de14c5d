"""Questions of many requests are answered together: what waits while one batch is computed becomes the next.

A batch is one matrix product for all its questions, which takes little more than that of one.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from clausal.choices import RankingName
from clausal.run import Answer
from clausal.serve.metrics import Metrics
from clausal.serve.problems import overloaded
from clausal.serve.runs import ServedRun
from clausal.serve.statuses import Standing

Query = tuple[str | None, str | None, str | None]
Answered = list[tuple[Answer, Standing]]
_LARGEST_BATCH = 128
_FEW = 8
"""Requests of up to as many questions do not wait behind larger ones."""
_PIECE = 64
_GATHERING = 0.003
"""Seconds to wait for more while requests come one after the other: a batch reads all vectors, however small it is."""
_ENOUGH = 32


@dataclass(eq=False)
class _Asked:
    served: ServedRun
    queries: Sequence[Query]
    k: int
    new: bool
    ranking: RankingName
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def __post_init__(self) -> None:
        self.future: asyncio.Future[list[Answered]] = self.loop.create_future()

    def together_with(self, other: _Asked) -> bool:
        return self.served is other.served and self.new == other.new and self.ranking == other.ranking


class Batcher:
    """A thread that answers what waits. Requests are refused when too many questions wait."""

    def __init__(self, waiting: int, metrics: Metrics) -> None:
        self._most, self._metrics = waiting, metrics
        self._few: deque[_Asked] = deque()
        self._many: deque[_Asked] = deque()
        self._waiting = 0
        self._condition = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._work, name="batches", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """End once nothing waits."""
        with self._condition:
            self._stopped = True
            self._condition.notify()
        self._thread.join(timeout=5)

    @property
    def waiting(self) -> int:
        """How many questions wait."""
        return self._waiting

    async def ask(
        self, served: ServedRun, queries: Sequence[Query], k: int, *, new: bool, ranking: RankingName
    ) -> list[Answered]:
        """Answer questions by the names of a run's graph, each by at most k answers with their standing."""
        if self._waiting and self._waiting + len(queries) > self._most:
            raise overloaded(f"{self._waiting} questions wait already")
        if len(queries) <= _FEW:
            asked = _Asked(served, queries, k, new, ranking)
            self._add(self._few, [asked])
            return await asked.future
        pieces = [
            _Asked(served, queries[start : start + _PIECE], k, new, ranking) for start in range(0, len(queries), _PIECE)
        ]
        self._add(self._many, pieces)
        return [answers for piece in pieces for answers in await piece.future]

    def _add(self, queue: deque[_Asked], asked: Sequence[_Asked]) -> None:
        with self._condition:
            queue.extend(asked)
            self._waiting += sum(len(one.queries) for one in asked)
            self._condition.notify()

    def _work(self) -> None:
        turn, before = 0, 1
        while True:
            if before > 1 and self._waiting < _ENOUGH:
                time.sleep(_GATHERING)
            with self._condition:
                while not (self._few or self._many or self._stopped):
                    self._condition.wait()
                if self._stopped and not (self._few or self._many):
                    return
                turn += 1
                first, second = (self._few, self._many) if turn % 2 else (self._many, self._few)
                batch = _take(first or second)
                before = sum(len(one.queries) for one in batch)
                self._waiting -= before
            batch = [one for one in batch if not one.future.cancelled()]  # whose client has gone or waited too long
            if batch:
                self._answer(batch)

    def _answer(self, batch: Sequence[_Asked]) -> None:
        first = batch[0]
        queries = [query for one in batch for query in one.queries]
        self._metrics.batch(len(queries))
        try:
            found = answer(first.served, queries, max(one.k for one in batch), new=first.new, ranking=first.ranking)
        except Exception as error:  # told to those who asked
            deliver: Callable[[], None] = _refusing(batch, error)
        else:
            deliver = _delivering(batch, found)
        first.loop.call_soon_threadsafe(deliver)


def answer(
    served: ServedRun,
    queries: Sequence[Query],
    k: int,
    *,
    new: bool,
    ranking: RankingName,
    consistent: bool = False,
) -> list[Answered]:
    """Answer questions, each answer with its standing."""
    answers = served.run.predict(list(queries), k, new=new, ranking=ranking, consistent=consistent)
    standings = iter(served.statuses.of_answers([one for some in answers for one in some]))
    return [[(one, next(standings)) for one in some] for some in answers]


def _take(queue: deque[_Asked]) -> list[_Asked]:
    """Take the first, and those after it that can be answered together with it."""
    batch = [queue.popleft()]
    size = len(batch[0].queries)
    while queue and queue[0].together_with(batch[0]) and size + len(queue[0].queries) <= _LARGEST_BATCH:
        batch.append(queue.popleft())
        size += len(batch[-1].queries)
    return batch


def _delivering(batch: Sequence[_Asked], found: list[Answered]) -> Callable[[], None]:
    def deliver() -> None:
        start = 0
        for one in batch:
            end = start + len(one.queries)
            if not one.future.done():
                one.future.set_result([answers[: one.k] for answers in found[start:end]])
            start = end

    return deliver


def _refusing(batch: Sequence[_Asked], error: Exception) -> Callable[[], None]:
    def deliver() -> None:
        for one in batch:
            if not one.future.done():
                one.future.set_exception(error)

    return deliver
