"""One point, in the process of ``main``: read, train by DistMult, and rank 1,000 facts on both sides."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from common.memory import peak

BATCH = 10_000
"""Small next to every graph, so that a batch updates nearly as many rows as it draws, whatever the entities."""


def main(task: dict[str, Any]) -> dict[str, float]:
    """Measure the graph in ``folder``."""
    import pyarrow.csv  # noqa: F401  so that reading does not count the imports

    from clausal import load_graph
    from clausal.config import Settings
    from clausal.evaluation import evaluate
    from clausal.logic import read_clauses
    from clausal.observer import Calling
    from clausal.training.prepare import prepare

    folder = Path(task["folder"])
    clauses = read_clauses(folder / "clauses.txt") if task["clauses"] else []
    # The adversary moves once in ten passes, and clauses cost something in each of a pass's steps.
    with_clauses = task["axis"] == "clauses"
    epochs, passes = (2, 10) if with_clauses else (1, 2)
    settings = Settings.from_mapping(
        {
            "model": {"scorer": "distmult", "dim": task["dim"], "domain": "cube"},
            "facts": {"batches": 10} if with_clauses else {"batch_size": BATCH},
            "clauses": {"adversary": task["adversary"]},
            "train": {"epochs": epochs, "passes": passes, "step": "fused", "device": "cpu"},
            "evaluate": {"every": 0},
        }
    )
    started = time.perf_counter()
    graph = load_graph(folder)
    loaded = time.perf_counter()
    memory = peak()
    marks: list[float] = []
    predictor = prepare(graph, clauses, settings).run(Calling(passed=lambda _: marks.append(time.perf_counter())))
    trained = peak()
    ranking = time.perf_counter()
    evaluate(predictor, graph)
    ranking = time.perf_counter() - ranking
    warm = len(marks) // 2
    return {
        "facts": len(graph.train),
        "loading": loaded - started,
        "pass": (marks[-1] - marks[warm - 1]) / (len(marks) - warm),
        "ranking": ranking,
        "memory of loading": memory,
        "memory of training": trained,
        "memory": peak(),
    }
