"""Our side: one training and one ranking, in the process of ``main``."""

from __future__ import annotations

import time
from typing import Any

from common.memory import forget_peak, peak, resident
from side_by_side.protocol import BATCHES, DIM, EPOCH, seconds, seconds_of_epoch, seconds_of_pass


def main(task: dict[str, Any]) -> dict[str, float]:
    """Train on the graph in ``folder`` for ``passes`` passes; rank test after them if ``rank`` is set."""
    from clausal import load_graph
    from clausal.config import Settings
    from clausal.evaluation import evaluate
    from clausal.logic import read_clauses
    from clausal.training.train import prepare

    graph = load_graph(task["folder"])
    clauses = read_clauses(task["clauses"]) if "clauses" in task else ()
    settings = Settings.from_mapping(
        {
            "model": {"scorer": task["scorer"], "dim": DIM, "domain": "cube"},
            "facts": {"batches": BATCHES},
            "clauses": {"adversary": task.get("adversary", "none"), "sets": 100},
            "train": {"epochs": task["passes"] // EPOCH, "passes": EPOCH, "step": task["step"], "device": "cpu"},
            "evaluate": {"every": 0},
        }
    )
    started, marks = time.perf_counter(), []
    first = 0.0

    def on_pass(_: object) -> None:
        nonlocal first
        first = first or time.time() - task["started"]
        marks.append(time.perf_counter())

    predictor = prepare(graph, clauses, settings).run(on_pass=on_pass)
    measured = {
        "first pass": first,
        "training": time.perf_counter() - started,
        "pass": seconds_of_pass(marks, warm=EPOCH),
        "pass of an epoch": seconds_of_epoch(marks) / EPOCH,
    }
    if task.get("rank"):
        before = resident()
        forget_peak()
        measured["ranking"] = seconds(lambda: evaluate(predictor, graph), repeats=3)
        measured["ranking memory"] = peak() - before
        measured["memory"] = peak()
    return measured
