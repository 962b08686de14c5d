"""``clausal reproduce grid``: the paper's grid search, by MRR on valid, for the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli.output import Format, FormatOption, print_results, say
from clausal.cli.progress import counting_progress
from clausal.errors import InputError, did_you_mean
from clausal_paper.commands.options import RowsOption, names_in
from clausal_paper.commands.tables import data_of

if TYPE_CHECKING:
    from clausal_paper.grid import Axes
    from clausal_paper.tables.rows import Row


def grid(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="fb122, wn18 or wn18-limited.")],
    rows: RowsOption = None,
    axis: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUES", help="Other values of a setting, such as model.dim=100,200; can be repeated."
        ),
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="One setting of every training, such as train.epochs=50."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="How many trainings of each point.")] = 1,
    processes: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Trainings at the same time.")] = 1,
    journal: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="JSON lines to go on from; reproduced/grid-TABLE.jsonl by default."),
    ] = None,
    presets: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the presets of the rows with the best settings in here.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Search the paper's grid for the rows of a table, by MRR on valid; what the journal has is not trained again."""
    from clausal_paper.grid import Journal, best, search
    from clausal_paper.tables.rows import TABLES, rows_of

    if table not in TABLES:
        raise InputError(f"unknown table '{table}'{did_you_mean(table, TABLES)}; choose one of {', '.join(TABLES)}")
    chosen = rows_of(table, names_in(rows))
    axes = _axes(axis or [])
    file = Journal(journal or Path("reproduced") / f"grid-{table}.jsonl")
    graph, clauses = data_of(table)
    with counting_progress() as progress:

        def told(done: int, total: int, entry: dict[str, Any] | None) -> None:
            progress("trainings", done, total)
            if entry is not None:
                say(f"{done} of {total}: {entry['row']} {_text(entry['point'])}: {_outcome(entry)}")

        entries = search(
            chosen,
            graph,
            clauses,
            file,
            axes=axes,
            seeds=range(seeds),
            changes=set or [],
            processes=processes,
            progress=told,
        )
    found = [entry for row in chosen if (entry := best(entries, row.name))]
    lines = [
        {"row": entry["row"], "valid MRR": entry["valid_mrr"], "settings": _text(entry["point"])} for entry in found
    ]
    say(f"{len(entries):,} trainings in {file.path}")
    if presets is not None:
        _write_presets(presets, [row for row in chosen if not row.is_kale], entries)
    print_results(format, lines, {"table": table, "best": found}, title="best on valid", columns=("row",))


def _write_presets(folder: Path, rows: list[Row], entries: list[dict[str, Any]]) -> None:
    from clausal.files import explained_os_errors, write_text
    from clausal_paper.grid import best, chosen_preset

    with explained_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for row in rows:
        entry = best(entries, row.name)
        if entry is not None:
            write_text(folder / f"{row.preset}.toml", chosen_preset(row, entry["point"]))
            say(f"wrote {folder / f'{row.preset}.toml'}")


def _axes(given: list[str]) -> Axes:
    from clausal.config import read_value

    axes = {}
    for text in given:
        key, equals, values = text.partition("=")
        if not equals or not values:
            raise InputError(f"--axis {text}: expected section.key=values, such as model.dim=100,200")
        axes[key.strip()] = tuple(read_value(value) for value in values.split(","))
    return axes


def _text(point: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in point.items())


def _outcome(entry: dict[str, Any]) -> str:
    return str(entry["error"]) if "error" in entry else f"{entry['valid_mrr']:.3f} in {entry['seconds']:.0f} s"
