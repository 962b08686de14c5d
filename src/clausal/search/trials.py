"""Trials: one training that is told when to stop, and many of them, in one process or in several, each written down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures._base import DoneAndNotDoneFutures
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from clausal.config import Settings
from clausal.errors import RunError, is_out_of_memory
from clausal.graph.graph import Graph
from clausal.logic.syntax import Clause
from clausal.observer import Calling, Observer, PassReport
from clausal.search.journal import CUT, FAILED, FINISHED, PRUNED, Journal, Trial
from clausal.training import AdversarialSetTraining, prepare

W = TypeVar("W")
_LOOK = 1.0  # seconds between two looks at processes


def make_trials(
    wanted: Iterable[W],
    attempt: Callable[..., Trial],
    journal: Journal,
    *,
    processes: int = 1,
    shared: Sequence[Any] = (),
) -> Iterator[Trial]:
    """Make the trials that are wanted, and yield each once it is in the journal.

    ``attempt(one, *shared)`` trains one. The next is asked for only when it can be begun, so that a sampler sees the
    trials before it. With several ``processes``, ``attempt`` is a
    function that they can import, ``shared`` goes to each of them once, and trials are in the order of their ends.
    """
    number = len(journal.read())
    for trial in _in_turn(wanted, attempt, shared) if processes == 1 else _at_once(wanted, attempt, processes, shared):
        number += 1
        numbered = replace(trial, number=number)
        journal.append(numbered)
        yield numbered


def _in_turn(wanted: Iterable[W], attempt: Callable[..., Trial], shared: Sequence[Any]) -> Iterator[Trial]:
    for one in wanted:
        yield attempt(one, *shared)


def _at_once(
    wanted: Iterable[W], attempt: Callable[..., Trial], processes: int, shared: Sequence[Any]
) -> Iterator[Trial]:
    # CUDA cannot be used in a fork.
    pool = ProcessPoolExecutor(processes, get_context("spawn"), initializer=_begin, initargs=(attempt, shared))
    running: set[Future[Trial]] = set()
    with pool:
        try:
            for one in wanted:
                running.add(pool.submit(_attempt, one))
                if len(running) == processes:
                    done, running = _wait_for_one(running, pool)
                    yield from (future.result() for future in done)
            while running:
                done, running = _wait_for_one(running, pool)
                yield from (future.result() for future in done)
        except BaseException as error:  # an interrupt, for example: trials that run would be waited for
            _terminate(pool)
            if isinstance(error, BrokenProcessPool):
                raise RunError(
                    "a process of the search was killed, as a system does that is out of memory; trials that ended are "
                    "in the journal, and the same command goes on with the others: try it with fewer processes"
                ) from None
            raise


def _wait_for_one(running: set[Future[Trial]], pool: ProcessPoolExecutor) -> DoneAndNotDoneFutures[Trial]:
    """Wait until a trial has ended; the pool itself does not notice the death of each of its processes."""
    while True:
        found = wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED)
        if found.done:
            return found
        if any(process.exitcode is not None for process in _processes(pool)):
            raise BrokenProcessPool


def _processes(pool: ProcessPoolExecutor) -> list[BaseProcess]:
    return list((pool._processes or {}).values())


def _terminate(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool at once, as ``terminate_workers`` does from Python 3.14 on."""
    processes = _processes(pool)
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()


_given: tuple[Callable[..., Trial], Sequence[Any]]


def _begin(attempt: Callable[..., Trial], shared: Sequence[Any]) -> None:
    global _given
    _given = attempt, shared


def _attempt(one: Any) -> Trial:
    attempt, shared = _given
    return attempt(one, *shared)


class _StopError(Exception):
    """Leaves a training from inside."""


@dataclass
class Attempt:
    """How a trial went: the training, if it got as far as that, and its records of epochs."""

    state: str = FINISHED
    training: AdversarialSetTraining | None = None
    records: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None

    @property
    def value(self) -> float | None:
        """The best validation, if there was one."""
        best = -1.0 if self.training is None else self.training.position.best
        return best if best >= 0 else None


def train_trial(
    graph: Graph,
    clauses: Sequence[Clause],
    settings: Settings,
    *,
    hopeless: Callable[[int, float], bool],
    deadline: float,
    observer: Observer,
    tell: Callable[[str], None],
    prepared: Callable[[AdversarialSetTraining], None] | None = None,
) -> Attempt:
    """Train until the end, the deadline (of ``time.monotonic``), or until the trial is hopeless.

    ``prepared`` is given the training before it begins. A model that diverges, or that memory is too small for, is no
    failure of the search.
    """
    result = Attempt()

    def after_pass(report: PassReport) -> None:
        observer.passed(report)
        if time.monotonic() > deadline:
            result.state = CUT
            raise _StopError

    def after_epoch(record: dict[str, Any]) -> None:
        result.records.append(record)
        observer.epoch(record)
        if "valid" in record and hopeless(record["epoch"], record["valid"][settings.evaluate.ranked_by]):
            result.state = PRUNED
            raise _StopError

    try:
        result.training = prepare(graph, clauses, settings, observer=Calling(message=tell))
        if prepared is not None:
            prepared(result.training)
        observer.training_started(settings, len(clauses))
        result.training.run(Calling(passed=after_pass, epoch=after_epoch))
    except _StopError:
        pass
    except RunError as error:
        result.state, result.error = FAILED, str(error)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        result.state, result.error, result.training = FAILED, "out of memory", None
    if result.state == CUT and result.training and result.training.best:
        result.training.predictor.load_state_dict(result.training.best)
    return result
