"""``clausal reproduce beyond``: tables that the paper does not have, without and with clauses on a modern base."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli.inputs import read_clauses, read_graph
from clausal.cli.output import Format, FormatOption, print_results, say
from clausal.cli.progress import Bars
from clausal.errors import InputError, did_you_mean
from clausal_paper.commands.options import OutOption, QuickOption, SeedsOption, names_in
from clausal_paper.commands.tables import run_plan

if TYPE_CHECKING:
    from clausal.graph import Graph
    from clausal.logic import Clause
    from clausal_paper.beyond.rows import BeyondRow
    from clausal_paper.beyond.systems import System
    from clausal_paper.tables.reproduction import Plan

_PARTS = {"test-I": "Test-I", "test-II": "Test-II", "deducible": "deducible", "other": "other", "test": "Test-ALL"}
_METRICS = {"mrr": "MRR", "hits@1": "Hits@1", "hits@10": "Hits@10"}


def beyond(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="fb122, wn18, wn18rr, fb15k-237 or wn18-limited.")],
    rows: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these rows, such as base,all; all by default.")
    ] = None,
    seeds: SeedsOption = 3,
    quick: QuickOption = False,
    out: OutOption = Path("reproduced"),
    format: FormatOption = Format.table,
) -> None:
    """Train the rows of a table beyond the paper: the best base that we have, without and with clauses."""
    from clausal_paper.beyond.plan import plan_of
    from clausal_paper.beyond.rows import TABLES
    from clausal_paper.beyond.systems import systems_of

    if table not in TABLES:
        raise InputError(f"unknown table '{table}'{did_you_mean(table, TABLES)}; choose one of {', '.join(TABLES)}")
    plan = plan_of(table, names_in(rows), seeds, quick)
    folder = out / "beyond" / (f"{table}-quick" if quick else table)
    records, files = run_plan(plan, lambda: _data(table, plan, folder), folder)
    systems = systems_of(plan.rows, records)
    found = _rows(systems)
    shown = _rows_for_people(systems) if format is Format.table else found
    title = f"{table}, filtered ranking: mean ± spread over seeds"
    print_results(format, shown, {"table": table, "rows": found, "records": files}, title=title)


def _data(table: str, plan: Plan[BeyondRow], folder: Path) -> tuple[Graph, list[Clause]]:
    """Load the data set of a table and its clauses; those that no data set has are made where the folder has none."""
    from clausal.graph import DATASETS
    from clausal_paper.beyond.clauses import OWN_CLAUSES, mined_clauses, weighed_clauses
    from clausal_paper.beyond.rows import DATA_SETS

    name = DATA_SETS[table]
    graph = read_graph(name, columns="sro")
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


def _rows_for_people(systems: list[System]) -> list[dict[str, Any]]:
    """Return a line for each system and part, with a cell for each metric."""
    lines = []
    for system in systems:
        for part, title in _PARTS.items():
            cells = {name: system.cell(part, metric) for metric, name in _METRICS.items()}
            if cells["MRR"].ours:
                found = {name: cell.measured for name, cell in cells.items()}
                lines.append({"row": system.title, "part": title} | found | {"seconds": f"{system.seconds:.0f}"})
    return lines


def _rows(systems: list[System]) -> list[dict[str, Any]]:
    """Return a line for each system and part: MRR and its spread, Hits in percent, and seconds of a training."""
    lines = []
    for system in systems:
        for part, title in _PARTS.items():
            mrr = system.cell(part, "mrr")
            if not mrr.ours:
                continue
            line = {"row": system.row.name, "entailed": system.entailed, "part": title}
            line |= {"MRR": mrr.mean, "spread": mrr.spread}
            line |= {metric: system.cell(part, metric).mean for metric in ("hits@1", "hits@10")}
            lines.append(line | {"seconds": system.seconds, "seeds": len(system.records)})
    return lines
