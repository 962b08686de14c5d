"""A table made again: one training for each row and seed, each kept in a file of its own, so that a kill costs one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from clausal.errors import InputError
from clausal.files import make_folder, read_json, write_json
from clausal.graph import Graph
from clausal.logic import Clause
from clausal.observer import Observer
from clausal_paper.tables.rows import BeyondRow, PaperRow, R, TableRow, beyond_rows, paper_rows
from clausal_paper.tables.run import Record, run_row
from clausal_paper.tables.training import describe, settings_of

Data = Callable[[], tuple[Graph, list[Clause]]]
"""Loads the data set and its clauses; called only if something is left to train."""
ObserverOf = Callable[[R, int], Observer]
"""Given a row and a seed, returns what is told of its training."""


@dataclass(frozen=True)
class Plan(Generic[R]):
    """Which rows of a table to train, how often, and what to change in their presets."""

    rows: tuple[R, ...]
    seeds: tuple[int, ...]
    changes: tuple[str, ...] = ()


_WHERE = ("device", "step", "precision", "checkpoint_seconds")
"""Settings of where and how a model is trained, and not of what it is."""

# More batches than the paper's ten make the most of few passes; the clauses' loss comes with each of them.
_SMALL_PAPER = (
    "model.dim=50",
    "facts.margin=1",
    "facts.batches=30",
    "clauses.weight=0.3",
    "train.epochs=10",
    "evaluate.every=10",
)
_SMALL_BEYOND = ("model.dim=64", "train.epochs=6", "evaluate.every=3")
_QUICK_PAPER = {
    "fb122": ("distmult", "casr-distmult"),
    "wn18": ("distmult", "casr-distmult"),
    "wn18-limited": ("complex-20", "casr-complex-20"),
}
_QUICK_BEYOND = {"fb122": ("base", "one-atom"), "wn18-limited": ("base-20", "all-20")}


def paper_plan(table: str, names: Sequence[str] = (), seeds: int = 3, quick: bool = False) -> Plan[PaperRow]:
    """Return the plan for one of the paper's tables, or for the rows of these names.

    ``quick`` is one seed of a few small rows, to see that clauses help.
    """
    if quick:
        return Plan(tuple(paper_rows(table, names or _QUICK_PAPER[table])), (0,), _SMALL_PAPER)
    return Plan(tuple(paper_rows(table, names)), tuple(range(seeds)))


def beyond_plan(table: str, names: Sequence[str] = (), seeds: int = 3, quick: bool = False) -> Plan[BeyondRow]:
    """Return the same for a table beyond the paper, where ``quick`` shows only that it works."""
    if quick:
        return Plan(tuple(beyond_rows(table, names or _QUICK_BEYOND.get(table, ()))), (0,), _SMALL_BEYOND)
    return Plan(tuple(beyond_rows(table, names)), tuple(range(seeds)))


def reproduce(
    plan: Plan[R],
    data: Data,
    folder: Path,
    observer: ObserverOf[R] | None = None,
    make_record: Callable[..., Record] | None = None,
) -> Iterator[tuple[Path, Record]]:
    """Yield a record and its file for each row and seed of a plan; what the folder has is not trained again.

    ``make_record`` trains a row in place of ``run_row``, with the same arguments.
    """
    make_folder(folder)
    loaded: tuple[Graph, list[Clause]] | None = None
    for row in plan.rows:
        for seed in plan.seeds:
            path = record_path(folder, row, seed)
            if path.exists():
                yield path, read_record(path, row, seed, plan.changes)
                continue
            loaded = loaded or data()
            told = observer(row, seed) if observer else None
            record = (make_record or run_row)(row, *loaded, seed, changes=plan.changes, observer=told)
            write_json(path, record)
            yield path, record


def record_path(folder: Path, row: TableRow, seed: int) -> Path:
    """Return the file of a row's training by a seed."""
    return folder / f"{row.name}-seed{seed}.json"


def read_record(path: Path, row: TableRow, seed: int, changes: Sequence[str]) -> Record:
    """Read a record, and refuse one of other settings: a mean over both would mean nothing."""
    record = read_json(path)
    now = describe(settings_of(row, seed, changes))
    then = record.get("settings")
    if not isinstance(then, dict):
        raise InputError(f"{path}: not a record of a training; move it away or choose another --out")
    differing = sorted(_differences(then, now))
    if differing:
        raise InputError(
            f"{path}: was trained with other settings ({', '.join(differing)}); move it away or choose another --out"
        )
    return record


def _differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield the settings that both have and that differ, and that a result depends on.

    A setting that is newer than the record changes nothing.
    """
    for section, values in now.items():
        before = then.get(section, {})
        for name, value in values.items():
            if name in before and name not in _WHERE and before[name] != value:
                yield f"{section}.{name} was {before[name]}, is {value}"
