"""Jobs: work that takes longer than a request, done one after the other, with progress."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from clausal.errors import ClausalError
from clausal.observer import Observer
from clausal.serve.problems import Problem

State = Literal["waiting", "running", "done", "failed", "cancelled"]
_MOST_WAITING = 8
_MOST_KEPT = 32


class _CancelledError(Exception):
    """Raised inside the work of a job that nobody wants any more."""


@dataclass(eq=False)
class Job:
    """Work with its state, how much is done, and what came of it."""

    kind: str
    run: str
    work: Callable[[Observer], dict[str, Any]]
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    state: State = "waiting"
    what: str | None = None
    done: int = 0
    total: int | None = None
    seconds: float | None = None
    error: str | None = None
    result: dict[str, Any] | None = None
    cancel: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the job as JSON has it."""
        names = ("id", "kind", "run", "state", "what", "done", "total", "seconds", "error", "result")
        return {name: getattr(self, name) for name in names}


class _Progress(Observer):
    def __init__(self, job: Job) -> None:
        self._job = job

    def message(self, text: str) -> None:
        """Say nothing: what matters is in the result."""

    def advanced(self, what: str, done: int, total: int | None, unit: str) -> None:
        if self._job.cancel:
            raise _CancelledError
        self._job.what, self._job.done, self._job.total = what, done, total


class Jobs:
    """Does jobs one after the other, and keeps the last ones with their results."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._queue: deque[Job] = deque()
        self._condition = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def stop(self) -> None:
        """Do no further job, and ask the one that runs to end."""
        with self._condition:
            self._stopped = True
            for job in self._jobs.values():
                job.cancel = True
            self._condition.notify()

    @property
    def is_working(self) -> bool:
        """Whether a job runs."""
        return any(job.state == "running" for job in self.newest())

    def add(self, kind: str, run: str, work: Callable[[Observer], dict[str, Any]]) -> Job:
        """Add a job; too many are refused."""
        with self._condition:
            if len(self._queue) >= _MOST_WAITING:
                raise Problem(429, f"{len(self._queue)} jobs wait already; try again when one has ended", retry_after=5)
            job = Job(kind, run, work)
            self._jobs[job.id] = job
            ended = [one for one in self._jobs.values() if one.state not in ("waiting", "running")]
            for old in ended[: max(0, len(self._jobs) - _MOST_KEPT)]:
                del self._jobs[old.id]
            self._queue.append(job)
            self._condition.notify()
        return job

    def get(self, id: str) -> Job:
        """Return a job by its id."""
        with self._condition:
            if id not in self._jobs:
                raise Problem(404, f"no job '{id[:100]}'; the last {_MOST_KEPT} are kept")
            return self._jobs[id]

    def cancel(self, id: str) -> Job:
        """Cancel a job: one that waits at once, one that runs when it next tells of progress."""
        job = self.get(id)
        with self._condition:
            job.cancel = True
            if job in self._queue:
                self._queue.remove(job)
                job.state = "cancelled"
        return job

    def newest(self) -> list[Job]:
        """Return the jobs that are kept, the newest first."""
        with self._condition:
            return list(reversed(self._jobs.values()))

    def _work(self) -> None:
        while True:
            with self._condition:
                while not (self._queue or self._stopped):
                    self._condition.wait()
                if self._stopped:
                    return
                job = self._queue.popleft()
                job.state = "running"
            started = time.monotonic()
            try:
                job.result = job.work(_Progress(job))
            except _CancelledError:
                job.state = "cancelled"
            except ClausalError as error:
                job.error, job.state = str(error), "failed"
            except Exception as error:  # the thread goes on for the next job
                job.error, job.state = f"internal error: {type(error).__name__}", "failed"
            else:
                job.state = "done"
            job.seconds = time.monotonic() - started
