"""Entities that a run has never seen, described by a file: ``--describe FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clausal.cli.output import say
from clausal.errors import InputError, count

if TYPE_CHECKING:
    from clausal.run import Run

DescribeOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Entities that the run has never seen: names and texts (or vectors), for a run trained with --text "
        "(or --vectors).",
    ),
]


def with_described(run: Run, path: Path) -> Run:
    """Add the entities that a file describes."""
    from clausal.run.unseen import read_descriptions

    try:
        more = run.describe(read_descriptions(path, run.predictor, lambda sentence: say(f"note: {sentence}")))
    except InputError as error:
        raise InputError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None
    added = len(more.graph.entities) - len(run.graph.entities)
    say(f"{path}: {count(added, 'entity', 'entities')} that the run has never seen")
    return more
