"""Run the zoo: ``python -m zoo [--seeds 3] [--graphs NAME…]``, from the folder of benchmarks (``make zoo``).

For every graph, by the commands that a user would give and without a setting: the plain defaults, ``--preset best``,
in whose run mined rules vote, and the same with mined rules as clauses. What is measured already is not
measured again; the records are in results/benchmarks/zoo.jsonl, and the page is docs/reference/zoo.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import clausal
from common.machine import describe_machine
from zoo.graphs import Splits, available, write
from zoo.page import write_page

RECORDS = Path(__file__).parents[2] / "results/benchmarks/zoo.jsonl"


def main() -> None:
    """Measure each graph with each seed, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="trainings of each kind")
    parser.add_argument("--graphs", nargs="*", help="some of the graphs, by name")
    options = parser.parse_args()
    graphs = available()
    chosen = options.graphs or list(graphs)
    if unknown := [name for name in chosen if name not in graphs]:
        sys.exit(f"not available here: {', '.join(unknown)}; known are {', '.join(graphs)}")
    records = [json.loads(line) for line in RECORDS.read_text().splitlines()] if RECORDS.exists() else []
    for name in chosen:
        for seed in range(options.seeds):
            if any((record["graph"], record["seed"]) == (name, seed) for record in records):
                continue
            record = {"graph": name, "seed": seed, **measure(graphs[name], seed), "machine": describe_machine()}
            records.append(record)
            with RECORDS.open("a", encoding="utf-8") as log:
                log.write(json.dumps(record) + "\n")
            print(json.dumps({key: value for key, value in record.items() if key != "machine"}), flush=True)
    print(write_page(records))


def measure(splits: Splits, seed: int) -> dict[str, Any]:
    """Train and fuse on one graph, and compare on test."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        graph = str(write(splits, here / "graph"))
        seeded = ("--set", f"train.seed={seed}")
        seconds = {
            "defaults": _clausal("train", graph, *seeded, "--out", here / "defaults"),
            "best": _clausal("train", graph, "--preset", "best", *seeded, "--out", here / "best"),
            "mine": _clausal("mine", graph, "--out", here / "mined.txt"),
        }
        runs = {name: clausal.load(here / name) for name in ("defaults", "best")}
        rules = 0
        if (here / "mined.txt").exists():
            clauses = ("--clauses", here / "mined.txt")
            seconds["clauses"] = _clausal("train", graph, *clauses, "--preset", "best", *seeded, "--out", here / "with")
            runs["clauses"] = clausal.load(here / "with")
            rules = len(runs["clauses"].clauses)
        best = runs["best"]
        ranks = {name: _reciprocal_ranks(run.evaluate()) for name, run in runs.items()}
        ranks |= {name: _reciprocal_ranks(best.evaluate(ranking=name)) for name in ("rules", "fused")}
        settings = best.settings
        return {
            "facts": {name: len(facts) for name, facts in splits.items()},
            "entities": len(best.graph.entities),
            "relations": len(best.graph.relations),
            "rules": rules,
            "mrr": {name: float(values.mean()) for name, values in ranks.items()},
            "against_best": {name: _difference(values, ranks["best"]) for name, values in ranks.items()},
            "seconds": {name: round(value, 1) for name, value in seconds.items()},
            "settings": {
                "training": settings.facts.training,
                "dim": settings.model.dim,
                "regulariser_weight": settings.facts.regulariser_weight,
                "relation_weight": settings.facts.relation_weight,
                "batch_size": settings.facts.batch_size,
                "learning_rate": settings.train.learning_rate,
                "clauses_weight": runs["clauses"].settings.clauses.weight if "clauses" in runs else None,
            },
        }


def _clausal(*arguments: object) -> float:
    """Run a command, and return its seconds."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "clausal", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return time.perf_counter() - started


def _reciprocal_ranks(evaluation: clausal.Evaluation) -> np.ndarray:
    """Return 1 / rank of each fact on either side, filtered."""
    return 1 / evaluation.ranks.of("filtered", "both")


def _difference(values: np.ndarray, others: np.ndarray) -> dict[str, float]:
    """Return the mean of the paired differences and its standard error."""
    differences = values - others
    return {"mean": float(differences.mean()), "error": float(differences.std() / np.sqrt(max(1, len(differences))))}


if __name__ == "__main__":
    main()
