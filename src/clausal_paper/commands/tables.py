"""``clausal reproduce fb122``, ``wn18`` and ``wn18-limited``: the tables of link prediction, next to the paper's."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clausal.cli.inputs import read_clauses, read_graph
from clausal.cli.output import Format, FormatOption, print_results, say
from clausal.cli.progress import training_progress
from clausal_paper.commands.options import OutOption, QuickOption, RowsOption, SeedsOption, names_in

if TYPE_CHECKING:
    from clausal.graph import Graph
    from clausal.logic import Clause
    from clausal_paper.tables.reproduction import Data, Plan
    from clausal_paper.tables.row import R
    from clausal_paper.tables.rows import Row

_OUT = Path("reproduced")
_METRICS = {"mrr": "MRR", "hits@3": "Hits@3", "hits@5": "Hits@5", "hits@10": "Hits@10"}
_PARTS = {"test-I": "Test-I", "test-II": "Test-II", "test": "Test-ALL"}


def fb122(
    rows: RowsOption = None,
    seeds: SeedsOption = 3,
    quick: QuickOption = False,
    out: OutOption = _OUT,
    format: FormatOption = Format.table,
) -> None:
    """Train the rows of the paper's FB122 table from presets, and compare with the paper."""
    _reproduce("fb122", rows, seeds, quick, out, format)


def wn18(
    rows: RowsOption = None,
    seeds: SeedsOption = 3,
    quick: QuickOption = False,
    out: OutOption = _OUT,
    format: FormatOption = Format.table,
) -> None:
    """Train the rows of the paper's WN18 table from presets, and compare with the paper."""
    _reproduce("wn18", rows, seeds, quick, out, format)


def wn18_limited(
    rows: RowsOption = None,
    seeds: SeedsOption = 3,
    quick: QuickOption = False,
    out: OutOption = _OUT,
    format: FormatOption = Format.table,
) -> None:
    """Train on 20 to 50 % of the WN18 facts that clauses conclude, and compare with the paper."""
    _reproduce("wn18-limited", rows, seeds, quick, out, format)


def data_of(table: str) -> tuple[Graph, list[Clause]]:
    """Load the data set of a table and its clauses."""
    from clausal_paper.tables.rows import DATA_SETS

    name = DATA_SETS[table]
    return read_graph(name, columns="sro"), read_clauses(name)


def run_plan(plan: Plan[R], data: Data, folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Train what a folder lacks of a plan, with progress, and return all of its records and their files."""
    from clausal_paper.tables.methods import length_of, settings_of
    from clausal_paper.tables.reproduction import reproduce

    data = cache(data)  # for a row's clauses too, once there is one to train
    total = len(plan.rows) * len(plan.seeds)
    records: list[dict[str, Any]] = []
    files: list[str] = []

    def watch(row: R, seed: int) -> AbstractContextManager[Any]:
        say(f"{len(records) + 1} of {total}: {row.title}, seed {seed}")
        length = length_of(settings_of(row, seed, plan.changes))
        return training_progress(row.name, *length, len(row.clauses(data()[1])))

    for path, record in reproduce(plan, data, folder, watch, say):
        records.append(record)
        files.append(str(path))
    say(f"{len(files)} record{'' if len(files) == 1 else 's'} in {folder}")
    return records, files


def _reproduce(table: str, names: str | None, seeds: int, quick: bool, out: Path, format: Format) -> None:
    from clausal_paper.tables.reproduction import plan_of

    plan = plan_of(table, names_in(names), seeds, quick)
    records, files = run_plan(plan, lambda: data_of(table), out / (f"{table}-quick" if quick else table))
    rows = _rows(plan.rows, records)
    shown = _rows_for_people(plan.rows, records) if format is Format.table else rows
    title = f"{table}, filtered ranking: paper → ours ± spread over seeds"
    print_results(format, shown, {"table": table, "rows": rows, "records": files}, title=title)


def _rows_for_people(rows: tuple[Row, ...], records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each row and part, with a cell for each metric."""
    from clausal_paper.tables.comparison import compare

    cells = compare(rows, records)
    lines = []
    for row in rows:
        for part, title in _PARTS.items():
            found = {name: str(cells.get((row.name, part, metric), "")) for metric, name in _METRICS.items()}
            if any(found.values()):
                lines.append({"row": row.title, "part": title} | found)
    return lines


def _rows(rows: tuple[Row, ...], records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each row and part: the paper's MRR, ours, the difference and the spread; then Hits."""
    from clausal_paper.tables.comparison import compare
    from clausal_paper.tables.paper import METRICS

    cells = compare(rows, records)
    lines = []
    for row in rows:
        for part, title in _PARTS.items():
            found = {metric: cells[row.name, part, metric] for metric in METRICS if (row.name, part, metric) in cells}
            if not found:
                continue
            mrr = found["mrr"]
            line: dict[str, Any] = {"row": row.title, "part": title, "MRR paper": mrr.paper, "ours": mrr.mean}
            line |= {"difference": mrr.difference, "spread": mrr.spread}
            for metric in METRICS[:-1]:
                cell = found.get(metric)
                line |= {f"{metric} paper": cell and cell.paper, f"{metric} ours": cell and cell.mean}
            lines.append(line)
    return lines
