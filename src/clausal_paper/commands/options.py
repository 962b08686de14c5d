"""Options that the commands of ``clausal reproduce`` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OutOption = Annotated[
    Path, typer.Option(metavar="DIR", help="Folder to write into; results that are there are not computed again.")
]
QuickOption = Annotated[bool, typer.Option("--quick", help="A small part of it, in minutes on two cores.")]
RowsOption = Annotated[
    str | None, typer.Option(metavar="NAMES", help="Only these rows, such as complex,asr-complex; all by default.")
]
SeedsOption = Annotated[int, typer.Option(min=1, metavar="NUMBER", help="How many trainings of each row.")]


def names_in(rows: str | None) -> list[str]:
    """Return the names in a list with commas."""
    return [name.strip() for name in rows.split(",") if name.strip()] if rows else []
