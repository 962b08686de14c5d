"""``clausal compare``: runs on one graph side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clausal.choices import RankingName
from clausal.cli.inputs import DeviceOption
from clausal.cli.output import Format, FormatOption, NamesOption, print_results, print_table, print_text, say
from clausal.cli.progress import Bars
from clausal.cli.report import require_page
from clausal.errors import InputError


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Two run directories or more, of one graph.")],
    split: Annotated[str, typer.Option(help="The facts to rank: train, valid or test.")] = "test",
    ranking: Annotated[RankingName, typer.Option(help="What ranks them, in every run.")] = "model",
    most: Annotated[int, typer.Option(help="Facts named that gained most, and that lost most.")] = 10,
    out: Annotated[Path | None, typer.Option(help="File for a page, .html.")] = None,
    names: NamesOption = "short",
    device: DeviceOption = "auto",
    format: FormatOption = Format.table,
) -> None:
    """Compare runs on one graph: settings, metrics with intervals, and which facts changed rank."""
    from clausal.files import write_text
    from clausal.report import compare_runs, comparison_page
    from clausal.report.side_by_side import about, metric_rows, moved_rows, number_rows
    from clausal.run import load

    if most < 0:
        raise InputError(f"--most {most}: a number of at least 0 is expected")
    if out is not None:
        require_page(out)
    loaded = [load(path, device=device) for path in runs]
    with Bars() as bars:
        found = compare_runs(loaded, split=split, ranking=ranking, most=most, observer=bars)
    if out is not None:
        write_text(out, comparison_page(found, loaded[0].graph.display.styled(names)))
        say(f"{out} written; open it in a browser")
    rows = metric_rows(found) if format is Format.table else number_rows(found)
    print_results(format, rows, found.to_dict(), title=f"{found.graph}: {found.split}")
    if format is Format.table:
        print_text(about(found))
        if found.settings:
            print_table(found.settings, "settings that differ")
        moved = moved_rows(found, loaded[0].graph.display.styled(names))
        if moved:
            print_table(moved, "facts whose rank changed most")
