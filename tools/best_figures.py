"""The figures of ``--preset best`` and of votes: one graph and one seed, for results/best/GRAPH.jsonl.

    python tools/best_figures.py GRAPH [--seed 0] [--device auto] [--clauses FILE] [--signed] [--out FILE]

Runs ``clausal train GRAPH --preset best``, which also lets mined rules vote, and measures the model, the rules and both
on test, without any choice there. A record for each is appended when it is there.
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

from clausal import load
from clausal.run import Run

_METRICS = ("mrr", "hits@1", "hits@3", "hits@10")


def main() -> None:
    """Train, and append the records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--clauses", help="a file of clauses, or the name of a data set that has some")
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
        append(out, about | {"kind": "fused, with clauses" if options.clauses else "fused"} | of_votes(run))
        if options.signed:
            append(out, about | {"kind": "fused, signed"} | of_votes(run.fuse(signed=True), ("fused",)))


def train(options: argparse.Namespace, out: Path) -> tuple[Run, float]:
    """Call the one command, and return the run and the seconds that it took."""
    given = ["--clauses", options.clauses] if options.clauses else []
    command = [sys.executable, "-m", "clausal", "train", options.graph, "--preset", "best", "--out", str(out), *given]
    command += ["--set", f"train.seed={options.seed}", "--set", f"train.device={options.device}"]
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=sys.stderr)
    return load(out), round(time.perf_counter() - started, 1)


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
