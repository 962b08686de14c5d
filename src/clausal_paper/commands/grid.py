"""``clausal reproduce grid``: the paper's grid search, by MRR on valid, for the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli import Bars, Format, FormatOption, print_results, say
from clausal.errors import InputError
from clausal_paper.commands.tables import RowsOption, data_of, names_in, require_table

if TYPE_CHECKING:
    from clausal.search import Trial
    from clausal_paper.grid import Axes
    from clausal_paper.tables.rows import PaperRow


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
    minutes: Annotated[
        float | None,
        typer.Option(min=0, help="Begin none after them, and take points at random and beside the best in turn."),
    ] = None,
    prune: Annotated[
        float | None,
        typer.Option(min=0, metavar="MRR", help="End trainings this far below the best of their row after 20 epochs."),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="Train only so many points of each row with more than one seed."),
    ] = None,
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
    from clausal.search import Journal
    from clausal_paper.grid import assignments, best, search_grid
    from clausal_paper.tables.rows import PAPER_TABLES, paper_rows

    require_table(table, PAPER_TABLES)
    chosen = paper_rows(table, names_in(rows))
    axes = _axes(axis or [])
    file = Journal(journal or Path("reproduced") / f"grid-{table}.jsonl")
    graph, clauses = data_of(table)
    with Bars() as bars:
        trials = search_grid(
            chosen,
            graph,
            clauses,
            file,
            axes=axes,
            seeds=range(seeds),
            changes=set or [],
            processes=processes,
            minutes=minutes,
            prune=prune,
            top=top,
            observer=bars,
        )
    found = [trial for row in chosen if (trial := best(trials, row.name))]
    lines = [{"row": one.about["row"], "valid MRR": one.value, "settings": assignments(one.changes)} for one in found]
    say(f"{len(trials):,} trainings in {file.path}")
    if presets is not None:
        _write_presets(presets, [row for row in chosen if not row.is_kale], trials)
    print_results(
        format,
        lines,
        {"table": table, "best": [_written(one) for one in found]},
        title="best on valid",
        columns=("row",),
    )


def _write_presets(folder: Path, rows: list[PaperRow], trials: list[Trial]) -> None:
    from clausal.files import make_folder, write_text
    from clausal_paper.grid import best, chosen_preset

    make_folder(folder)
    for row in rows:
        trial = best(trials, row.name)
        if trial is not None:
            write_text(folder / f"{row.preset}.toml", chosen_preset(row, trial.changes))
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


def _written(trial: Trial) -> dict[str, Any]:
    """Return a trial as JSON has it."""
    outcome = {"valid_mrr": trial.value, "best_epoch": trial.epoch, "seconds": round(trial.seconds, 2)}
    return {**trial.about, "point": dict(trial.changes), **outcome}
