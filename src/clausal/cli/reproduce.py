"""``clausal reproduce``: the paper's figures and tables, made again by this library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clausal.cli.group import Command, Group
from clausal.cli.output import Format, FormatOption, print_results

reproduce = typer.Typer(
    name="reproduce",
    cls=Group,
    help="Make the paper's figures and tables again.",
    no_args_is_help=True,
)

OutOption = Annotated[Path, typer.Option(metavar="DIR", help="Folder to write into; files of the same name go.")]
QuickOption = Annotated[bool, typer.Option("--quick", help="A coarser version, to see that it works.")]


@reproduce.callback()
def common() -> None:
    """Make the paper's figures and tables again."""  # with a callback, one command alone is still a sub-command


@reproduce.command(cls=Command)
def contours(
    out: OutOption = Path("reproduced"), quick: QuickOption = False, format: FormatOption = Format.table
) -> None:
    """Draw the paper's contour figure: the largest violation by component of b - r, on sphere and cube."""
    from clausal.experiments.contours import contours as compute
    from clausal.experiments.contours import draw

    paths = draw(compute(41 if quick else 101), out)
    rows = [{"figure": str(path)} for path in paths]
    print_results(format, rows, {"figures": [str(path) for path in paths]})
