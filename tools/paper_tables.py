"""All tables of the paper in one go, in parts that can be stopped: what a session with a GPU fills.

    python tools/paper_tables.py [--minutes 25] [--parts fb122,wn18] [--out results/paper] [--list]

Each part is a command that leaves a file for every training, and goes on from what is there. No part begins after the
minutes are over; call it again for the rest. The parts whose figures are most wanted come first. To train again with
today's code, give a new folder, and move its files to ``results/paper`` when they are complete.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

_AXES = {
    "model.dim": "20,50,100,150,200",
    "model.domain": "cube",
    "facts.margin": "1,2,5,10",
    "train.passes": "1,10",
}
_AXES_OF_ASCENT = {
    "clauses.weight": "1,10,100,1000,10000,100000,1000000",
    "clauses.sets": "1,10,100",
    "clauses.steps": "1,4,10",
    "clauses.pooling": "sum,mean,max",
    "clauses.optimizer": "adagrad,sgd",
}
"""The paper's axes and those of the authors' scripts, on the cube, where FB122's rows are best."""


def _grid(row: str, minutes: int, axes: dict[str, str]) -> tuple[str, ...]:
    """Return a grid search for a row of FB122 that ends by itself, and writes the preset of the best point."""
    words = tuple(word for name, values in axes.items() for word in ("--axis", f"{name}={values}"))
    rest = ("--minutes", str(minutes), "--prune", "0.12", "--top", "10", "--seeds", "3")
    return ("grid", "fb122", "--rows", row, *words, *rest)


PARTS: dict[str, tuple[str, ...]] = {
    "wn18-limited": ("wn18-limited",),
    "fb122": ("fb122",),
    "wn18": ("wn18",),
    "certify": ("certify", "--seeds", "3"),
    "grid-asr-complex": _grid("asr-complex", 5, _AXES | _AXES_OF_ASCENT),
    "grid-asr-distmult": _grid("asr-distmult", 3, _AXES | _AXES_OF_ASCENT),
    "grid-casr-complex": _grid("casr-complex", 2, _AXES),
    "grid-casr-distmult": _grid("casr-distmult", 2, _AXES),
    "synthetic": ("synthetic", "--own"),
    "synthetic-text": ("synthetic", "--own", "--protocol", "text"),
}
"""What ``clausal reproduce`` is called with. Synthetic tables are trained on a CPU, wherever they run."""


def main() -> None:
    """Run the parts that are left, until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("--parts", help="only these, with commas between them")
    parser.add_argument("--out", type=Path, default=Path("reproduced"))
    parser.add_argument("--list", action="store_true", help="print the commands and end")
    options = parser.parse_args()
    chosen = options.parts.split(",") if options.parts else list(PARTS)
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        parser.error(f"unknown part {', '.join(unknown)}; choose from {', '.join(PARTS)}")
    end = time.monotonic() + 60 * options.minutes
    for name in chosen:
        command = [sys.executable, "-m", "clausal", "reproduce", *PARTS[name], *_where(name, options.out)]
        print(f"{name}: clausal {' '.join(command[3:])}", flush=True)
        left = end - time.monotonic()
        if options.list:
            continue
        if left <= 0:
            print(f"the time is over before {name}; call again with --parts {','.join(chosen[chosen.index(name) :])}")
            return
        try:
            subprocess.run(command, check=True, timeout=left)
        except subprocess.TimeoutExpired:
            print(f"the time is over in {name}; call again with --parts {','.join(chosen[chosen.index(name) :])}")
            return


def _where(name: str, out: Path) -> tuple[str, ...]:
    """Return the option for where a part writes; a grid has a journal."""
    if name.startswith("grid"):
        return ("--journal", str(out / f"{name}-fb122.jsonl"), "--presets", str(out / "presets"), "--processes", "4")
    return ("--out", str(out))


if __name__ == "__main__":
    main()
