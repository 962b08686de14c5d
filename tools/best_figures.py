"""The figures of ``--preset best`` and of votes: one graph and one seed, for results/best/GRAPH.jsonl.

    python tools/best_figures.py GRAPH [--seed 0] [--device auto] [--clauses FILE] [--model] [--signed] [--out FILE]

Does what ``clausal train GRAPH --preset best`` does, where mined rules vote too, and measures the model, the rules and
both on test, without any choice there; with ``--model`` there are no votes. A record of each is appended in its turn.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from clausal import load_graph, read_clauses
from clausal.graph.datasets import DATASETS, dataset_clauses
from clausal.observer import Calling
from clausal.run import Run
from clausal.search import train_best
from clausal.search.best import best_settings
from clausal.search.space import change

_METRICS = ("mrr", "hits@1", "hits@3", "hits@10")


def main() -> None:
    """Train, and append the records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--clauses", help="a file of clauses, or the name of a data set that has some")
    parser.add_argument("--model", action="store_true", help="the model alone: no votes")
    parser.add_argument("--signed", action="store_true", help="votes with signed weights, too")
    parser.add_argument("--out", type=Path, help="JSON lines to append to; results/best/GRAPH.jsonl by default")
    options = parser.parse_args()
    name = Path(options.graph).name
    out = options.out or Path(__file__).parents[1] / f"results/best/{name}.jsonl"
    about = {"graph": name, "seed": options.seed}
    with tempfile.TemporaryDirectory() as folder:
        run, seconds = train(options, Path(folder) / "run")
        kind = "best with clauses" if options.clauses else "best"
        append(out, about | {"kind": kind, "seconds": seconds} | of_training(run))
        if options.model:
            return
        append(out, about | {"kind": "fused, with clauses" if options.clauses else "fused"} | of_votes(run))
        if options.signed:
            append(out, about | {"kind": "fused, signed"} | of_votes(run.fuse(signed=True), ("fused",)))


def train(options: argparse.Namespace, out: Path) -> tuple[Run, float]:
    """Do what the one command does, and return the run and the seconds that it took."""
    started = time.perf_counter()
    graph = load_graph(options.graph)
    named = dataset_clauses(options.clauses) if options.clauses in DATASETS else options.clauses
    clauses = list(read_clauses(named)) if named else []
    given = {"train.seed": options.seed, "train.device": options.device}
    settings = change(best_settings(graph, clauses, options.device), given)
    told = Calling(message=lambda text: print(text, flush=True))
    run = train_best(graph, clauses, settings, out=out, fixed=list(given), votes=not options.model, observer=told)
    return run, round(time.perf_counter() - started, 1)


def of_training(run: Run) -> dict[str, Any]:
    """Return what the model reaches alone, and how it was trained."""
    found = run.evaluate("test").to_dict()
    race = [json.loads(line) for line in (run.path / "race.jsonl").read_text(encoding="utf-8").splitlines()]
    return {
        "valid": run.evaluate("valid").filtered["both"]["mrr"] if len(run.graph.valid) else None,
        "test": found["filtered"]["both"]["mrr"],
        **{name: found["filtered"]["both"][name] for name in _METRICS[1:]},
        "parts": parts(found),
        "settings": run.settings.model_dump(mode="json", exclude_none=True),
        "race": race,
        "metrics": run.metrics,
    }


def of_votes(run: Run, rankings: tuple[str, ...] = ("fused", "rules")) -> dict[str, Any]:
    """Return what the rankings with votes reach."""
    found = {name: run.evaluate("test", ranking=name).to_dict() for name in rankings}
    return {
        "rankings": {name: {key: one["filtered"]["both"][key] for key in _METRICS} for name, one in found.items()},
        "parts": parts(found["fused"]),
    }


def parts(found: dict[str, Any]) -> dict[str, float]:
    """Return MRR by part of test."""
    return {part: one["filtered"]["both"]["mrr"] for part, one in found.get("parts", {}).items()}


def append(out: Path, record: dict[str, Any]) -> None:
    """Write a line, and show its figures."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    print({name: value for name, value in record.items() if name not in ("settings", "race", "metrics")}, flush=True)


if __name__ == "__main__":
    main()
