"""Clauses with two body atoms on the cube: α = 0, the closed form and gradient ascent on the same knowledge bases.

``python -m clausal_paper.synthetic.conjunctions FILE`` writes every area into a JSON file. The settings were
chosen on bases with seeds from 100 to 139, before any of the fresh ones was looked at.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from clausal.files import write_json
from clausal_paper.provenance import provenance
from clausal_paper.synthetic.cells import REPORTED, Cell, run_cell

FRESH = tuple(range(1000, 1050))
"""Seeds of fifty knowledge bases: the area of one varies by about ten points, so a mean of ten says little."""


def conjunction_cells() -> Iterator[Cell]:
    """Yield twelve cells, those to be compared in a row."""
    for clause_type, scorer in product(("transitivity", "composition"), ("distmult", "complex")):
        for adversary in ("none", "closed-form", "gradient"):
            yield Cell(clause_type, scorer, "cube", adversary)


def main(out: Path) -> None:
    """Run all cells, and write the file anew after each, so that nothing is lost when it is interrupted."""
    parts = {"fresh": FRESH, "reported": REPORTED}
    report: dict[str, Any] = {
        "what": "AUC-PR in percent on synthetic knowledge bases with transitive or composed clauses, unit cube",
        "seeds": {name: list(seeds) for name, seeds in parts.items()},
        **provenance("cpu"),
        "cells": [],
    }
    for name, seeds in parts.items():
        for cell in conjunction_cells():
            record = _run(cell, name, seeds)
            report["cells"].append(record)
            write_json(out, report)
            print(_line(record), file=sys.stderr)


def _run(cell: Cell, part: str, seeds: Sequence[int]) -> dict[str, Any]:
    settings = cell.settings()
    result = run_cell(cell, settings, seeds)
    return {
        "part": part,
        "clauses": cell.clause_type,
        "settings": settings.model_dump(mode="json", exclude_none=True),
        "mean": round(result.mean, 2),
        "standard_error": round(result.spread / len(seeds) ** 0.5, 2),
        "cpu_seconds": round(result.seconds, 1),
        "areas": [round(area, 2) for area in result.areas],
    }


def _line(record: dict[str, Any]) -> str:
    clauses = record["settings"]["clauses"]
    names = [record["part"], record["clauses"], record["settings"]["model"]["scorer"]]
    how = [clauses[key] for key in ("adversary", "semantics", "region", "weight")]
    figures = f"{record['mean']:.1f} ± {record['standard_error']:.1f}, {record['cpu_seconds']:.0f} s"
    return f"{' '.join(map(str, names + how))}: {figures}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure closed-form training of conjunctions on synthetic data.")
    parser.add_argument("file", type=Path, help="JSON file to write")
    main(parser.parse_args().file)
