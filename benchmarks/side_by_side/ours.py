"""Our side: one training and one ranking, in the process of ``main``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from common.memory import forget_peak, peak, resident
from side_by_side.protocol import BATCHES, DIM, EPOCH, seconds, seconds_of_pass

if TYPE_CHECKING:
    from clausal.config import Settings


def main(task: dict[str, Any]) -> dict[str, float]:
    """Train on the graph in ``folder`` for ``passes`` passes; rank test after them if ``rank`` is set."""
    from clausal import load_graph
    from clausal.evaluation import evaluate
    from clausal.observer import Calling
    from clausal.training.prepare import prepare

    graph = load_graph(task["folder"])
    started, marks = time.perf_counter(), []
    first = 0.0

    def on_pass(_: object) -> None:
        nonlocal first
        first = first or time.time() - task["started"]
        marks.append(time.perf_counter())

    predictor = prepare(graph, (), settings_of(task)).run(Calling(passed=on_pass))
    measured = {
        "first pass": first,
        "training": time.perf_counter() - started,
        "pass": seconds_of_pass(marks, warm=EPOCH),
    }
    if task.get("rank"):
        before = resident()
        forget_peak()
        measured["ranking"] = seconds(lambda: evaluate(predictor, graph), repeats=3)
        measured["ranking memory"] = peak() - before
        measured["memory"] = peak()
    return measured


def settings_of(task: dict[str, Any]) -> Settings:
    """Return the settings of a training: its scorer, step, adversary and passes."""
    from clausal.config import Settings

    return Settings.from_mapping(
        {
            "model": {"scorer": task["scorer"], "dim": DIM, "domain": "cube"},
            "facts": {"batches": BATCHES},
            "clauses": {"adversary": task.get("adversary", "none"), "sets": 100},
            "train": {"epochs": task["passes"] // EPOCH, "passes": EPOCH, "step": task["step"], "device": "cpu"},
            "evaluate": {"every": 0},
        }
    )
