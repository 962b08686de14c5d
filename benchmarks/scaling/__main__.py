"""Measure the points that have no figures yet, each in a process of its own, and store them one by one.

PYTHONPATH=benchmarks python -m scaling [--axes triples entities] [--most 2000000] [--again] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from common.machine import describe_machine, in_words
from common.processes import measure, store
from scaling.points import Point, all_points

RESULTS = Path(__file__).parent.parent.parent / "results/benchmarks/scaling.json"


def main() -> None:
    """Go through the points."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--axes", nargs="+", default=["triples", "entities", "dim", "clauses"])
    parser.add_argument("--most", type=int, default=20_000_000, help="leave out graphs of more triples")
    parser.add_argument("--again", action="store_true", help="measure points again that have figures")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored = json.loads(options.out.read_text()) if options.out.exists() and not options.again else {}
    stored = {"machine": describe_machine(), "points": {}} | stored
    print(in_words(stored["machine"]), flush=True)
    for point in all_points():
        if point.axis not in options.axes or point.triples > options.most or point.key in stored["points"]:
            continue
        stored["points"][point.key] = point._asdict() | _measure(point)
        store(options.out, stored)
        print(_line(point.key, stored["points"][point.key]), flush=True)


def _measure(point: Point) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        task = point._asdict() | {"folder": f"{folder}/graph"}
        measure("scaling.synthetic", task)
        return measure("scaling.measurement", task)


def _line(key: str, found: dict[str, Any]) -> str:
    return (
        f"{key:<24} loading {found['loading']:7.2f} s  pass {found['pass']:7.3f} s "
        f"({1e6 * found['pass'] / found['facts']:.2f} s per million)  ranking {found['ranking']:7.2f} s  "
        f"memory {found['memory'] / 1000:.2f} GB"
    )


if __name__ == "__main__":
    main()
