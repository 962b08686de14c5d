"""Epochs without clauses and with them in turn, in one process: what other programs take, they take from all."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from side_by_side.ours import settings_of
from side_by_side.protocol import EPOCH

ROUNDS = 15
WARM = 3


def main(task: dict[str, Any]) -> dict[str, float]:
    """Return the median seconds of a pass by adversary, ``none`` among them, and its ratio to one without clauses.

    The adversary moves before the first pass of an epoch, so an epoch has its share of that. A ratio is the median over
    rounds, each of which trains an epoch of every kind.
    """
    from clausal import load_graph
    from clausal.logic import read_clauses
    from clausal.training.algorithm import Position
    from clausal.training.prepare import prepare

    graph, clauses = load_graph(task["folder"]), read_clauses(task["clauses"])
    kinds = ("none", *task["adversaries"])
    trainings = [prepare(graph, clauses, settings_of(task | {"passes": EPOCH, "adversary": kind})) for kind in kinds]
    taken: list[list[float]] = []
    for _ in range(WARM + ROUNDS):
        taken.append([])
        for training in trainings:
            training.position = Position()
            started = time.perf_counter()
            training.run()
            taken[-1].append((time.perf_counter() - started) / EPOCH)
    rounds = list(zip(*taken[WARM:], strict=True))
    plain = rounds[0]
    measured = {}
    for kind, seconds in zip(kinds, rounds, strict=True):
        measured[kind] = median(seconds)
        measured[f"{kind} ratio"] = median(own / other for own, other in zip(seconds, plain, strict=True))
    return measured
