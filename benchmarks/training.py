"""Training and ranking on FB122 and WN18, beside PyKEEN in a virtual environment of its own, in one run.

    python benchmarks/training.py [--graphs fb122 wn18] [--peer .venv-peer/bin/python] [--out FILE]

Both sides read the same files and train the same model: a pass, 100 passes without validation, the filtered ranking of
test on both sides, the time from the start of the process to the end of its first pass, and memory; each scorer in a
process of its own. Ratios are what to read: other programs slow both sides. PyKEEN trains 20 passes and ranks a tenth
of the facts, and its seconds are multiplied.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from clausal.graph import dataset_clauses, load_graph, write_graph
from common.machine import describe_machine, in_words
from common.processes import measure, store
from side_by_side.protocol import TRAINING, seconds
from side_by_side.table import HEAD, Row, compare, line, with_clauses

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Measure each graph and scorer in turn, print the table and store it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="+", default=["fb122", "wn18"])
    parser.add_argument("--peer", default=ROOT / ".venv-peer/bin/python", help="a Python that has PyKEEN")
    parser.add_argument("--out", type=Path, default=ROOT / "results/benchmarks/side-by-side.json")
    options = parser.parse_args()
    if not Path(options.peer).exists():
        raise SystemExit(f"{options.peer} is not there; make bench makes it")
    machine = describe_machine()
    machine["versions"]["pykeen"] = _ask_version(options.peer)
    print(in_words(machine), HEAD, sep="\n", flush=True)
    rows = _help(Path(options.peer))
    for graph in options.graphs:
        with tempfile.TemporaryDirectory() as folder:
            whole = load_graph(graph)
            write_graph(Path(folder) / graph, replace(whole, parts={}))
            for scorer in ("distmult", "complex"):
                rows += _scorer(graph, scorer, str(Path(folder) / graph), options.peer)
    store(options.out, {"machine": machine, "rows": [row._asdict() for row in rows]})


def _scorer(graph: str, scorer: str, folder: str, python: str | Path) -> list[Row]:
    task = {"folder": folder, "scorer": scorer, "step": "fused", "passes": TRAINING}
    peer = measure("side_by_side.peer", task, python)
    ours = measure("side_by_side.ours", task | {"rank": True})
    eager = measure("side_by_side.ours", task | {"step": "eager", "passes": 20})
    rows = compare(graph, scorer, ours, peer)
    rows.append(Row(graph, scorer, "pass, eager step", eager["pass"], peer["pass"], peer["pass"] / eager["pass"]))
    if graph == "fb122":
        most = {"gradient": 1.5, "closed-form": 1.15}
        clauses = {"clauses": str(dataset_clauses(graph)), "adversaries": list(most)}
        rows += with_clauses(graph, scorer, measure("side_by_side.in_turn", task | clauses), most)
    for row in rows:
        print(line(row), flush=True)
    return rows


def _ask_version(peer: str | Path) -> str:
    code = "from importlib.metadata import version; print(version('pykeen'))"
    return subprocess.run([peer, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def _help(peer: Path) -> list[Row]:
    """Time what a user waits for before a command says anything."""

    def ask(program: Path) -> float:
        return seconds(lambda: subprocess.run([program, "--help"], check=True, capture_output=True), repeats=3)

    ours, theirs = ask(Path(sys.executable).parent / "clausal"), ask(peer.parent / "pykeen")
    row = Row("", "", "--help", ours, theirs, theirs / ours)
    print(line(row), flush=True)
    return [row]


if __name__ == "__main__":
    main()
