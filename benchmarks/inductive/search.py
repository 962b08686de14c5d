"""Settings for entities that training has never seen, chosen on valid: a random search on WN18RR, split by entities.

    PYTHONPATH=benchmarks python -m inductive.search --texts descriptions.tsv --sentences vectors.npy \\
        --names names.txt --device cuda --workers 8 --seconds 100 --out search.jsonl --best best.json

The seed of the split is one that ``inductive`` does not measure. The first trial of a method has the settings of
``inductive.measure``, each other one draws some. It trains without clauses and ranks valid; the best of each method go
to ``--best``, for its ``--settings``.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path
from typing import Any

from clausal.evaluation import evaluate
from clausal.graph import Graph, load_graph
from clausal.training import prepare
from inductive.measure import METHODS, chosen, in_processes, settings_of

SEED = 3
CHOICES: dict[str, list[Any]] = {
    "model.scorer": ["complex", "complex", "cp"],
    "model.dim": [512, 1024],
    "model.initial_scale": [1.0, 3.0],
    "facts.candidates": ["all"],
    "facts.batch_size": [512, 1024],
    "facts.label_smoothing": [0.0, 0.0, 0.1],
    "train.learning_rate": [0.01, 0.02, 0.03],
    "train.epochs": [6, 10, 15],
    "train.averaging": [0.0, 0.5, 0.7],
    "descriptions.hidden": [1024, 2048],
    "descriptions.feature_dropout": [0.2, 0.3, 0.5],
    "descriptions.own_dropout": [1.0, 0.5],
}
"""Chosen around what a prototype on the same valid facts found."""


def main() -> None:
    """Search, and write the best settings of each method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--sentences", type=Path, required=True)
    parser.add_argument("--names", type=Path)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=["sentences"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--passes", type=int, help="of every training, for a try")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--best", type=Path, required=True)
    options = parser.parse_args()
    options.end = time.time() + options.seconds
    graph = load_graph("wn18rr").split_by_entities(seed=SEED)
    draw = random.Random(0)
    tasks = [
        (
            options.methods[number % len(options.methods)],
            graph,
            drawn(draw) if number >= len(options.methods) else {},
            options,
        )
        for number in range(options.trials)
    ]
    found: list[dict[str, Any]] = []
    for record in in_processes(options.workers, trial, tasks):
        if record is not None:
            found.append(record)
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            print(json.dumps(record), flush=True)
            options.best.write_text(json.dumps(best(found), indent=1), encoding="utf-8")


def best(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the settings that rank valid best, of each method."""
    ranked = sorted((record for record in found if "valid" in record), key=lambda record: float(record["valid"]["mrr"]))
    return {record["method"]: record["settings"] for record in ranked}


def drawn(draw: random.Random) -> dict[str, dict[str, Any]]:
    """Draw the settings of a trial."""
    values: dict[str, dict[str, Any]] = {}
    for name, choices in CHOICES.items():
        section, key = name.split(".")
        values.setdefault(section, {})[key] = draw.choice(choices)
    if draw.random() < 0.25:
        values["train"] |= {"optimizer": "adam", "learning_rate": values["train"]["learning_rate"] / 20}
    return values


def trial(
    method: str, graph: Graph, values: dict[str, dict[str, Any]], options: argparse.Namespace
) -> dict[str, Any] | None:
    """Train with some settings and rank valid; None when the time is over."""
    if time.time() > options.end:
        return None
    started = time.perf_counter()
    record: dict[str, Any] = {"method": method, "settings": values}
    try:
        training = prepare(graph, (), settings_of(method, options, 0, values))
        predictor = training.run().eval().with_table()
        with training.choice.in_use():
            record["valid"] = chosen(evaluate(predictor, graph, split="valid").filtered["both"])
    except Exception as error:  # settings that do not go together, or too much memory
        record["error"] = " ".join(str(error).split())[:300]
    return record | {"seconds": round(time.perf_counter() - started, 1)}


if __name__ == "__main__":
    main()
