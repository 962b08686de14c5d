"""``clausal index``: an index of a run's vectors, for questions to millions of entities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clausal.choices import Metric
from clausal.cli.output import say
from clausal.cli.progress import Bars

if TYPE_CHECKING:
    from clausal.run import Run

IndexOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Find answers by this index (clausal index), for very many entities; some may be missed."
    ),
]


def index(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of a finished training.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Write the index to this file.")],
    metric: Annotated[
        Metric,
        typer.Option(help="dot for answers to questions and nearest --metric dot; the others for nearest alone."),
    ] = "dot",
) -> None:
    """Make an index of the entities' vectors, for questions to millions of entities."""
    from clausal.files import check_file_target
    from clausal.run import load

    check_file_target(out)
    loaded = load(run, device="cpu")
    with Bars(doing="indexing") as bars:
        made = loaded.build_index(metric=metric, out=out, observer=bars)
    say(f"written: {out}, an index of {len(made):,} vectors")


def with_index(run: Run, path: Path, metric: Metric | None = None) -> Run:
    """Add an index for answers, or for neighbours by a metric."""
    from clausal.run.indexing import require_use

    indexed = run.with_index(path)
    require_use(indexed, metric)
    return indexed
