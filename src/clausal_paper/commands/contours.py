"""``clausal reproduce contours``: the paper's contour figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clausal.cli.output import Format, FormatOption, print_results


def contours(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write into; files of the same name go.")] = Path(
        "reproduced"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="A coarser version, to see that it works.")] = False,
    format: FormatOption = Format.table,
) -> None:
    """Draw the paper's contour figure: the largest violation by component of b - r, on sphere and cube."""
    from clausal_paper.contours import contours as compute
    from clausal_paper.contours import draw

    paths = draw(compute(41 if quick else 101), out)
    rows = [{"figure": str(path)} for path in paths]
    print_results(format, rows, {"figures": [str(path) for path in paths]})
