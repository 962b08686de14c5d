"""Two processes beside one with two threads, on one random graph: seconds of a pass, memory and bytes.

    PYTHONPATH=benchmarks python -m together [--triples 20000000] [--entities 5000000] [--clauses 0] [--out FILE]

DistMult, dim 100, batches of 10,000 facts. One process trains by the fused step with as many threads as processes are
compared. All is measured in one go, in turns, so that what else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from common.machine import describe_machine, in_words
from common.processes import BENCHMARKS, measure, store

RESULTS = BENCHMARKS.parent / "results/benchmarks/together.json"


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triples", type=int, default=20_000_000)
    parser.add_argument("--entities", type=int, default=5_000_000)
    parser.add_argument("--clauses", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--passes", type=int, default=1, help="passes that are timed, after one that is not")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored = json.loads(options.out.read_text()) if options.out.exists() else {}
    machine = describe_machine()
    print(in_words(machine), flush=True)
    key = f"{options.triples} triples, {options.entities} entities, {options.clauses} clauses"
    with tempfile.TemporaryDirectory() as folder:
        graph = f"{folder}/graph"
        measure("scaling.synthetic", {"folder": graph, **vars(options), "out": ""})
        found = {
            str(count): together(count, options.processes // count, task(graph, f"{folder}/run-{count}", options))
            for count in (1, options.processes)
        }
    one, several = found["1"][0], found[str(options.processes)]
    ratios = {
        "pass": max(row["pass"] for row in several) / one["pass"],
        "cpu": sum(row["cpu"] for row in several) / one["cpu"],
        "memory of training": max(row["memory of training"] for row in several) / one["memory of training"],
    }
    stored[key] = {"machine": machine, "processes": found, "ratios": ratios}
    store(options.out, stored)
    for row in [one, *several]:
        print(
            f"{row['processes']} processes, process {row['rank']}: pass {row['pass']:.2f} s, CPU {row['cpu']:.2f} s, "
            f"memory of loading {row['memory of loading']:.0f} MB, of training {row['memory of training']:.0f} MB, "
            f"{row['bytes_per_step']:,} bytes a step"
        )
    print("several to one: " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()))


def task(graph: str, out: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return what a worker is to do."""
    settings = {
        "model": {"scorer": "distmult", "dim": 100, "domain": "cube"},
        "facts": {"batch_size": 10_000},
        "clauses": {"adversary": "closed-form"},
        "train": {"epochs": 1, "passes": 1 + options.passes, "device": "cpu", "step": "auto"},
        "evaluate": {"every": 0},
    }
    return {"folder": graph, "out": out, "clauses": options.clauses, "settings": settings, "warm": 1}


def together(processes: int, threads: int, task: dict[str, Any]) -> list[dict[str, Any]]:
    """Run workers that train together, each with some threads; return what each has measured."""
    with tempfile.TemporaryDirectory() as folder:
        workers = [
            subprocess.Popen(
                [sys.executable, "-m", "together.worker", json.dumps(task)],
                env=os.environ
                | {"PYTHONPATH": os.pathsep.join([str(BENCHMARKS), os.environ.get("PYTHONPATH", "")])}
                | {"CLAUSAL_MEETING": folder, "RANK": str(rank), "WORLD_SIZE": str(processes)}
                | {"LOCAL_WORLD_SIZE": str(processes), "OMP_NUM_THREADS": str(max(1, threads))},
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(processes)
        ]
        outputs = [worker.communicate()[0] for worker in workers]
    if any(worker.returncode for worker in workers):
        raise SystemExit("a worker has failed")
    return [json.loads(output.splitlines()[-1]) for output in outputs]


if __name__ == "__main__":
    main()
