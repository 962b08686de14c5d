"""Accuracy on FB122 with its 38 one-atom clauses: several processes beside one, and the options that take less memory.

    PYTHONPATH=benchmarks python -m together.accuracy [--epochs 4] [--dim 50] [--seeds 3] [--only NAME] [--out FILE]

Filtered MRR of the test facts after short trainings of ten passes an epoch, each by the command line, for some seeds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from common.machine import describe_machine, in_words
from common.processes import BENCHMARKS, store

RESULTS = BENCHMARKS.parent / "results/benchmarks/together-accuracy.json"
VARIANTS: dict[str, tuple[int, dict[str, str]]] = {
    "one process": (1, {}),
    "two processes": (2, {}),
    "four processes": (4, {}),
    "bfloat16": (1, {"train.table_precision": "bfloat16"}),
    "a sum for each row": (1, {"train.adagrad_sums": "row"}),
    "bfloat16, a sum for each row": (1, {"train.table_precision": "bfloat16", "train.adagrad_sums": "row"}),
    "learning rate 0.4": (1, {"train.learning_rate": "0.4"}),
    "learning rate 0.4, a sum for each row": (1, {"train.learning_rate": "0.4", "train.adagrad_sums": "row"}),
}
"""The number of processes and the settings of each variant."""


def main() -> None:
    """Train what has no figures yet, print and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--dim", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=list(VARIANTS), help="variants to train")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    machine = describe_machine()
    print(in_words(machine), flush=True)
    key = f"complex, dim {options.dim}, {10 * options.epochs} passes, closed form"
    stored = json.loads(options.out.read_text()) if options.out.exists() else {}
    found = stored.setdefault(key, {"machine": machine, "runs": []})
    for seed in range(options.seeds):
        for name in options.only:
            if not any((run["variant"], run["seed"]) == (name, seed) for run in found["runs"]):
                found["runs"].append({"variant": name, "seed": seed} | _train(name, seed, options.epochs, options.dim))
                store(options.out, stored)
                print(
                    "{variant:30} seed {seed}: MRR {mrr:.4f}, {seconds:.0f} s".format(**found["runs"][-1]), flush=True
                )
    for name in options.only:
        values = [run["mrr"] for run in found["runs"] if run["variant"] == name]
        print(f"{name:30} mean MRR {sum(values) / len(values):.4f} of {len(values)} seeds")


def _train(name: str, seed: int, epochs: int, dim: int) -> dict[str, Any]:
    processes, changes = VARIANTS[name]
    settings = {
        "model.dim": dim,
        "train.epochs": epochs,
        "train.seed": seed,
        "train.device": "cpu",
        "clauses.adversary": "closed-form",
        "evaluate.every": epochs,
        **changes,
    }
    given = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = [
            "train",
            "fb122",
            "--clauses",
            "fb122-simple",
            *given,
            "--processes",
            str(processes),
            "--out",
            str(out),
        ]
        done = subprocess.run([sys.executable, "-m", "clausal", *command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        metrics = json.loads((out / "metrics.json").read_text())
    training = metrics["training"]
    return {
        "mrr": metrics["test"]["filtered"]["both"]["mrr"],
        "seconds": training["seconds"],
        "step": training["step"],
        "bytes_per_step": training.get("bytes_per_step", 0),
    }


if __name__ == "__main__":
    main()
