"""All that a service holds, and how work is done: questions in batches, the rest in a few threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from clausal.serve.batching import Batcher, Query
from clausal.serve.jobs import Jobs
from clausal.serve.limits import Limits
from clausal.serve.metrics import Metrics
from clausal.serve.problems import overloaded, too_slow
from clausal.serve.questions import read_at_once, read_questions
from clausal.serve.requests import QueryBody
from clausal.serve.runs import Runs, ServedRun

_R = TypeVar("_R")
_RELOAD_SECONDS = 2.0


class Service:
    """Runs, limits, and the threads that work for requests."""

    def __init__(self, runs: Runs, limits: Limits | None = None) -> None:
        self.runs, self.limits = runs, limits or Limits()
        self.metrics = Metrics()
        self.batcher = Batcher(self.limits.waiting, self.metrics)
        self.jobs = Jobs()
        self.draining = False
        self._working = 0
        self._threads = ThreadPoolExecutor(self.limits.threads, thread_name_prefix="work")
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to work; the event loop must be running."""
        self.batcher.start()
        self.jobs.start()
        self._watching = asyncio.create_task(self._watch())

    def stop(self) -> None:
        """End all work."""
        if self._watching is not None:
            self._watching.cancel()
        self.jobs.stop()
        self.batcher.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    def is_working(self) -> bool:
        """Whether a thread is at work, perhaps for a request that nobody waits for any more."""
        return self._working > 0 or self.jobs.is_working

    async def work(self, function: Callable[..., _R], *arguments: object) -> _R:
        """Call a function in a thread. Too many at once are refused; the time of one is limited."""
        if self._working >= 8 * self.limits.threads:
            raise overloaded(f"{self._working} requests wait for a thread")
        self._working += 1
        future = self._threads.submit(function, *arguments)
        future.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.limits.seconds)
        except TimeoutError:
            raise too_slow(self.limits.seconds) from None

    def _done(self, _: object) -> None:
        self._working -= 1

    async def read_queries(self, served: ServedRun, questions: Sequence[QueryBody | str]) -> list[Query]:
        """Read questions; those that are not at once clear are read in a thread, as a misspelt name takes long."""
        graph = served.run.graph
        found = []
        for question in questions:
            query = read_at_once(question, graph)
            if query is None:
                return await self.work(read_questions, questions, graph)
            found.append(query)
        return found

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_RELOAD_SECONDS)
            await asyncio.to_thread(self.runs.reload)
