"""The paper's two synthetic tables made again: every cell on the same ten knowledge bases, kept in one JSON file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clausal.config import Settings
from clausal.errors import InputError
from clausal.files import explained_os_errors, read_json, write_json
from clausal.observer import Observer
from clausal_paper.provenance import provenance
from clausal_paper.synthetic.cells import REPORTED, Cell, CellResult, paper_cells, run_cell

Table = dict[str, Any]
Record = Mapping[str, Any]

_OF_A_CELL = (("model", "scorer"), ("model", "domain"), ("clauses", "adversary"))
_QUICK_SEEDS = (0, 1, 2)
_QUICK_TRAIN = {"epochs": 30, "passes": 10}


def cells_of(quick: bool = False) -> list[tuple[Cell, float]]:
    """Return all cells with the paper's AUC-PR, or the few of ``--quick``: implications with ComplEx on the cube."""
    cells = list(paper_cells())
    few = ("implication", "complex", "cube")
    return [pair for pair in cells if not quick or (pair[0].clause_type, pair[0].scorer, pair[0].domain) == few]


def reproduce(path: Path, *, quick: bool = False, observer: Observer | None = None) -> Table:
    """Run the cells that the file lacks, and write it anew after each."""
    observer = observer or Observer()
    cells = cells_of(quick)
    seeds = _QUICK_SEEDS if quick else REPORTED
    table: Table = {
        "table": "synthetic",
        "seeds": list(seeds),
        "settings": _common(_settings(cells[0][0], quick)),
        **provenance(),
        "cells": [],
    }
    if path.exists():
        table["cells"] = _finished(path, table)
    with explained_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    done = {_key(record) for record in table["cells"]}
    for place, (cell, area) in enumerate(cells):
        if cell_key(cell) in done:
            continue
        observer.message(f"{place + 1} of {len(cells)}: {', '.join(cell_key(cell)[:3])}, adversary {cell.adversary}")
        observer.advanced("cells", place, len(cells), "cells")
        result = run_cell(cell, _settings(cell, quick), seeds)
        table["cells"].append(_record(cell, area, result))
        write_json(path, table)
    return table


def time_ratio(table: Table) -> float | None:
    """Return the CPU time of the closed-form cells over that of gradient ascent on the same knowledge bases."""
    seconds = {_key(record): record["cpu_seconds"] for record in table["cells"]}
    pairs = [
        (time, seconds[(*key[:3], "gradient")])
        for key, time in seconds.items()
        if key[3] == "closed-form" and (*key[:3], "gradient") in seconds
    ]
    return sum(closed for closed, _ in pairs) / sum(ascent for _, ascent in pairs) if pairs else None


def cell_key(cell: Cell) -> tuple[str, str, str, str]:
    """Return what tells a cell from others, as records have it."""
    return cell.clause_type, cell.scorer, cell.domain, cell.adversary


def _key(record: Record) -> tuple[str, str, str, str]:
    return record["clauses"], record["scorer"], record["domain"], record["adversary"]


def _record(cell: Cell, area: float, result: CellResult) -> dict[str, Any]:
    return {
        **dict(zip(("clauses", "scorer", "domain", "adversary"), cell_key(cell), strict=True)),
        "paper": area,
        "mean": round(result.mean, 2),
        "spread": round(result.spread, 2),
        "cpu_seconds": round(result.seconds, 1),
        "areas": [round(found, 2) for found in result.areas],
    }


def _settings(cell: Cell, quick: bool) -> Settings:
    settings = cell.settings()
    train = settings.train.model_copy(update=_QUICK_TRAIN if quick else {})
    return settings.model_copy(update={"train": train})


def _common(settings: Settings) -> dict[str, Any]:
    """Return what the settings of all cells have in common."""
    values = settings.model_dump(mode="json", exclude_unset=True)
    for section, name in _OF_A_CELL:
        del values[section][name]
    return values


def _finished(path: Path, table: Table) -> list[Any]:
    found = read_json(path)
    for what in ("table", "seeds", "settings"):
        if found.get(what) != table[what]:
            raise InputError(f"{path}: holds results with other {what}; move it away or choose another --out")
    return list(found["cells"])
