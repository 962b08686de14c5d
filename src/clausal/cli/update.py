"""``clausal update``: a run on a graph that has changed, without training anew."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli.describing import DescribeOption
from clausal.cli.inputs import DeviceOption, read_graph, reads_graph
from clausal.cli.output import Format, FormatOption, print_results, say
from clausal.cli.progress import Bars
from clausal.errors import InputError

if TYPE_CHECKING:
    from clausal.run import Run


@reads_graph
def update(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of a finished training; it stays.")],
    out: Annotated[Path, typer.Option(help="New run directory for the result.")],
    facts: Annotated[
        str | None,
        typer.Argument(
            metavar="FACTS",
            help="New facts, about known and new entities: one file, or a database, as for train.",
            show_default=False,
        ),
    ] = None,
    remove: Annotated[
        str | None, typer.Option(metavar="FILE", help="Facts that are withdrawn; each must be in the graph.")
    ] = None,
    refine: Annotated[
        int,
        typer.Option(
            metavar="PASSES",
            min=0,
            help="Then go so often over the facts of all that changed, and move known entities; 0 leaves these as "
            "they are.",
        ),
    ] = 30,
    refine_new: Annotated[
        bool | None,
        typer.Option(
            "--refine-new/--no-refine-new",
            help="Move new entities with them: closer to the new facts, and often further from all others; by default "
            "those about which clauses derive something.",
            show_default=False,
        ),
    ] = None,
    describe: DescribeOption = None,
    device: DeviceOption = "auto",
    format: FormatOption = Format.table,
) -> None:
    """Add facts and entities to a run, or withdraw facts, without training anew."""
    from clausal.files import check_new_folder
    from clausal.run import load

    if facts is None and remove is None:
        raise InputError("nothing to update: name a file of new facts, or of facts to withdraw (--remove FILE)")
    check_new_folder(out, "choose another --out: the old run stays as it is")
    loaded = load(run, device=device)
    added = None if facts is None else read_graph(facts, whole=True)
    withdrawn = None if remove is None else read_graph(remove, whole=True)
    descriptions = None if describe is None else _descriptions(loaded, describe)
    with Bars(doing="updating") as bars:
        updated = loaded.update(
            added,
            remove=withdrawn,
            refine=refine,
            refine_new=refine_new,
            descriptions=descriptions,
            out=out,
            observer=bars,
        )
    _report(updated, out, format)


def _descriptions(run: Run, path: Path) -> dict[str, Any]:
    from clausal.run.unseen import read_descriptions

    return read_descriptions(path, run.predictor, lambda sentence: say(f"note: {sentence}"))


def _report(run: Run, out: Path, format: Format) -> None:
    from clausal.run.updating import Updated

    done = run.metrics["updates"][-1]
    if format is not Format.table:
        print_results(format, [done], done)
    say(f"{out}: {Updated(**done)}")
    say(f"now {run.graph.summary()}")
    path = quote(str(out))
    say(f"next: clausal certify {path}\n      clausal complete {path} --out missing.parquet")
