"""The time of epochs that are trained in turn, by the wall and by the processor: what other programs take, all lose."""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median
from typing import Any

from clausal.config import Settings
from clausal.graph import Graph
from clausal.logic import Clause
from clausal.training import AdversarialSetTraining, prepare

_WARM = 2


def ratios(graph: Graph, sets: Sequence[Sequence[Clause]], settings: Settings, rounds: int) -> dict[str, Any]:
    """Return the ratios of epochs with each set of clauses to those with the first, and the seconds to prepare each.

    An epoch has the adversary's search and all passes until the next, as users see them. A ratio is the median over
    rounds, each of which trains an epoch with every set.
    """
    trainings, prepared = [], []
    for clauses in sets:
        started = time.perf_counter()
        trainings.append(prepare(graph, clauses, settings))
        prepared.append(time.perf_counter() - started)
    taken = [[_epoch(training, number) for training in trainings] for number in range(_WARM + rounds)][_WARM:]
    wall, processor = (
        [median(row[place][clock] / row[0][clock] for row in taken) for place in range(len(sets))] for clock in (0, 1)
    )
    return {
        "wall": wall,
        "processor": processor,
        "epoch": median(row[0][0] for row in taken),
        "prepared": prepared,
        "parts": [training.objective.clauses.share.parts for training in trainings],
    }


def _epoch(training: AdversarialSetTraining, number: int) -> tuple[float, float]:
    position, train = training.position, training.settings.train
    position.epoch, position.passes, position.stopped = number, 0, False
    training.settings = training.settings.model_copy(update={"train": train.model_copy(update={"epochs": number + 1})})
    started = time.perf_counter(), time.process_time()
    training.run()
    return time.perf_counter() - started[0], time.process_time() - started[1]
