"""One trial: a training that is told when to stop, by the time or by how others did at the same epoch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from clausal.config import Settings
from clausal.errors import RunError, is_out_of_memory
from clausal.graph.graph import Graph
from clausal.logic.syntax import Clause
from clausal.observer import Calling
from clausal.run.training import OnEpoch, OnPass
from clausal.search.result import CUT, FAILED, FINISHED, PRUNED
from clausal.training import AdversarialSetTraining, PassReport, prepare

HopelessAt = Callable[[int, float], bool]
"""Given an epoch and a validation, says whether to give the trial up."""


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


def attempt(
    graph: Graph,
    clauses: Sequence[Clause],
    settings: Settings,
    *,
    hopeless: HopelessAt,
    deadline: float,
    on_pass: OnPass | None = None,
    on_epoch: OnEpoch | None = None,
    tell: Callable[[str], None],
) -> Attempt:
    """Train until the end, the deadline (of ``time.monotonic``), or until the trial is hopeless.

    A model that diverges, or that memory is too small for, is no failure of the search.
    """
    result = Attempt()

    def after_pass(report: PassReport) -> None:
        if on_pass:
            on_pass(report)
        if time.monotonic() > deadline:
            result.state = CUT
            raise _StopError

    def after_epoch(record: dict[str, Any]) -> None:
        result.records.append(record)
        if on_epoch:
            on_epoch(record)
        if "valid" in record and hopeless(record["epoch"], record["valid"][settings.evaluate.metric]):
            result.state = PRUNED
            raise _StopError

    try:
        result.training = prepare(graph, clauses, settings, observer=Calling(message=tell))
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
