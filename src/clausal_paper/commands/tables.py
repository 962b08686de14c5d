"""``clausal reproduce fb122``, ``wn18``, ``wn18-limited`` and ``beyond``: the tables of link prediction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli import Bars, Format, FormatOption, print_results, read_clauses, read_graph, say
from clausal.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from clausal.graph import Graph
    from clausal.logic import Clause
    from clausal_paper.tables.comparison import System
    from clausal_paper.tables.reproduction import Data, Plan
    from clausal_paper.tables.rows import BeyondRow, PaperRow, R

OutOption = Annotated[
    Path, typer.Option(metavar="DIR", help="Folder to write into; results that are there are not computed again.")
]
QuickOption = Annotated[bool, typer.Option("--quick", help="A small part of it, in minutes on two cores.")]
RowsOption = Annotated[
    str | None, typer.Option(metavar="NAMES", help="Only these rows, such as complex,asr-complex; all by default.")
]
SeedsOption = Annotated[int, typer.Option(min=1, metavar="NUMBER", help="How many trainings of each row.")]

_OUT = Path("reproduced")
_METRICS = {"mrr": "MRR", "hits@3": "Hits@3", "hits@5": "Hits@5", "hits@10": "Hits@10"}
_BEYOND_METRICS = {"mrr": "MRR", "hits@1": "Hits@1", "hits@10": "Hits@10"}
_PARTS = {"test-I": "Test-I", "test-II": "Test-II", "test": "Test-ALL"}
_BEYOND_PARTS = {
    "test-I": "Test-I",
    "test-II": "Test-II",
    "deducible": "deducible",
    "other": "other",
    "test": "Test-ALL",
}


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


def certify(
    rows: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Only these rows; complex, asr-complex and casr-complex by default."),
    ] = None,
    seeds: SeedsOption = 1,
    quick: QuickOption = False,
    out: OutOption = _OUT,
    format: FormatOption = Format.table,
) -> None:
    """Train rows of FB122, and certify each by all 47 clauses: are models with clauses more robust?"""
    from clausal_paper.tables.reproduction import paper_plan
    from clausal_paper.tables.robustness import ROWS, certify_row

    plan = paper_plan("fb122", names_in(rows) or list(ROWS), seeds, quick)
    folder = out / ("certify-quick" if quick else "certify")
    records, files = run_plan(plan, lambda: data_of("fb122"), folder, certify_row)
    titles = {row.name: row.title for row in plan.rows}
    found = [
        {
            "row": titles[record["row"]],
            "seed": record["seed"],
            "clauses": record["trained_with"],
            "margin": record["settings"]["facts"]["margin"],
            "mean bound": record["bound"],
            "largest bound": record["largest_bound"],
            "mean attained": record["attained"],
            "rate over entities": record["rate"],
            "verdicts": ", ".join(f"{count} {verdict}" for verdict, count in record["verdicts"].items()),
        }
        for record in records
    ]
    title = "FB122: certificates of all clauses over the domain, and over real entities"
    print_results(format, found, {"rows": found, "records": files}, title=title)


def beyond(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="fb122, wn18, wn18rr, fb15k-237 or wn18-limited.")],
    rows: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these rows, such as base,all; all by default.")
    ] = None,
    seeds: SeedsOption = 3,
    quick: QuickOption = False,
    out: OutOption = _OUT,
    format: FormatOption = Format.table,
) -> None:
    """Train the rows of a table beyond the paper: the best base that we have, without and with clauses."""
    from clausal_paper.tables.comparison import systems_of
    from clausal_paper.tables.reproduction import beyond_plan
    from clausal_paper.tables.rows import BEYOND_TABLES

    require_table(table, BEYOND_TABLES)
    plan = beyond_plan(table, names_in(rows), seeds, quick)
    folder = out / "beyond" / (f"{table}-quick" if quick else table)
    records, files = run_plan(plan, lambda: _beyond_data(table, plan, folder), folder)
    systems = systems_of(plan.rows, records)
    found = _beyond_lines(systems)
    shown = _beyond_lines_for_people(systems) if format is Format.table else found
    title = f"{table}, filtered ranking: mean ± spread over seeds"
    print_results(format, shown, {"table": table, "rows": found, "records": files}, title=title)


def names_in(rows: str | None) -> list[str]:
    """Return the names in a list with commas."""
    return [name.strip() for name in rows.split(",") if name.strip()] if rows else []


def require_table(table: str, tables: Mapping[str, object]) -> None:
    """Refuse the name of a table that there is not."""
    if table not in tables:
        raise InputError(f"unknown table '{table}'{did_you_mean(table, tables)}; choose one of {', '.join(tables)}")


def data_of(table: str) -> tuple[Graph, list[Clause]]:
    """Load the data set of a table and its clauses."""
    from clausal_paper.tables.rows import data_set

    name = data_set(table)
    return read_graph(name), read_clauses(name)


def run_plan(
    plan: Plan[R], data: Data, folder: Path, make_record: Callable[..., dict[str, Any]] | None = None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Train what a folder lacks of a plan, with progress, and return all of its records and their files."""
    from clausal_paper.tables.reproduction import reproduce

    total = len(plan.rows) * len(plan.seeds)
    records: list[dict[str, Any]] = []
    files: list[str] = []

    with ExitStack() as shown:

        def observer(row: R, seed: int) -> Bars:
            shown.close()  # the bars of the row before
            say(f"{len(records) + 1} of {total}: {row.title}, seed {seed}")
            return shown.enter_context(Bars(row.name))

        for path, record in reproduce(plan, data, folder, observer, make_record):
            records.append(record)
            files.append(str(path))
    say(f"{len(files)} record{'' if len(files) == 1 else 's'} in {folder}")
    return records, files


def _reproduce(table: str, names: str | None, seeds: int, quick: bool, out: Path, format: Format) -> None:
    from clausal_paper.tables.reproduction import paper_plan

    plan = paper_plan(table, names_in(names), seeds, quick)
    records, files = run_plan(plan, lambda: data_of(table), out / (f"{table}-quick" if quick else table))
    rows = _lines(plan.rows, records)
    shown = _lines_for_people(plan.rows, records) if format is Format.table else rows
    title = f"{table}, filtered ranking: paper → best epoch on valid | last epoch, each ± spread over seeds"
    print_results(format, shown, {"table": table, "rows": rows, "records": files}, title=title)


def _lines_for_people(rows: tuple[PaperRow, ...], records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each row and part, with a cell for each metric."""
    from clausal_paper.tables.comparison import compare

    cells, last = compare(rows, records), compare(rows, records, of="last")

    def shown(key: tuple[str, str, str]) -> str:
        after = last.get(key)
        return str(cells.get(key, "")) + (f" | {after.marked}" if after and after.ours else "")

    lines = []
    for row in rows:
        for part, title in _PARTS.items():
            found = {name: shown((row.name, part, metric)) for metric, name in _METRICS.items()}
            if any(found.values()):
                lines.append({"row": row.title, "part": title} | found)
    return lines


def _lines(rows: tuple[PaperRow, ...], records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each row and part: the paper's MRR, ours of the best epoch and of the last, with differences
    and spreads; then Hits.
    """
    from clausal_paper.tables.comparison import compare
    from clausal_paper.tables.published import METRICS

    cells, last = compare(rows, records), compare(rows, records, of="last")
    lines = []
    for row in rows:
        for part, title in _PARTS.items():
            found = {metric: cells[row.name, part, metric] for metric in METRICS if (row.name, part, metric) in cells}
            if not found:
                continue
            mrr = found["mrr"]
            line: dict[str, Any] = {"row": row.title, "part": title, "MRR paper": mrr.paper, "ours": mrr.mean}
            line |= {"difference": mrr.difference, "spread": mrr.spread}
            after = last.get((row.name, part, "mrr"))
            line |= {"last epoch": after and after.mean, "last difference": after and after.difference}
            line |= {"last spread": after and after.spread}
            for metric in METRICS[:-1]:
                cell, after = found.get(metric), last.get((row.name, part, metric))
                line |= {f"{metric} paper": cell and cell.paper, f"{metric} ours": cell and cell.mean}
                line |= {f"{metric} last": after and after.mean}
            lines.append(line)
    return lines


def _beyond_data(table: str, plan: Plan[BeyondRow], folder: Path) -> tuple[Graph, list[Clause]]:
    """Load the data set of a table and its clauses; those that no data set has are made where the folder has none."""
    from clausal.graph import DATASETS
    from clausal_paper.tables.clauses import OWN_CLAUSES, mined_clauses, weighed_clauses
    from clausal_paper.tables.rows import data_set

    name = data_set(table)
    graph = read_graph(name)
    given = read_clauses(name) if DATASETS[name].clauses else []
    if table not in OWN_CLAUSES or not (given or any(row.uses != "none" for row in plan.rows)):
        return graph, given
    if given:
        clauses = weighed_clauses(graph, given, folder)
    else:
        with Bars() as bars:
            clauses = mined_clauses(graph, folder, bars)
    say(f"{len(clauses):,} clauses with their confidence in train as weight, in {folder / OWN_CLAUSES[table]}")
    return graph, clauses


def _beyond_lines_for_people(systems: list[System]) -> list[dict[str, Any]]:
    """Return a line for each system and part, with a cell for each metric."""
    lines = []
    for system in systems:
        for part, title in _BEYOND_PARTS.items():
            cells = {name: system.cell(part, metric) for metric, name in _BEYOND_METRICS.items()}
            if cells["MRR"].ours:
                found = {name: cell.measured for name, cell in cells.items()}
                lines.append({"row": system.title, "part": title} | found | {"seconds": f"{system.seconds:.0f}"})
    return lines


def _beyond_lines(systems: list[System]) -> list[dict[str, Any]]:
    """Return a line for each system and part: MRR and its spread, Hits in percent, and seconds of a training."""
    lines = []
    for system in systems:
        for part, title in _BEYOND_PARTS.items():
            mrr = system.cell(part, "mrr")
            if not mrr.ours:
                continue
            line = {"row": system.row.name, "entailed": system.entailed, "part": title}
            line |= {"MRR": mrr.mean, "spread": mrr.spread}
            line |= {metric: system.cell(part, metric).mean for metric in ("hits@1", "hits@10")}
            lines.append(line | {"seconds": system.seconds, "seeds": len(system.records)})
    return lines
