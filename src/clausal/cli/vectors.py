"""``clausal vectors``: the vectors of a run's entities and relations, to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clausal.cli.output import say


def vectors(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of a finished training.")],
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Write to this .parquet, .safetensors, .npy, or .txt (word2vec)."),
    ],
) -> None:
    """Write the vectors of entities and relations, with their names, for other programs."""
    from clausal.run import load
    from clausal.run.vector_files import check_vectors_target, write_vectors

    check_vectors_target(out)
    found = load(run, device="cpu").vectors()
    for path in write_vectors(out, found):
        say(f"written: {path}")
    inverses = "" if found.inverse_relations is None else ", and as many of their inverses"
    say(
        f"{len(found.entities):,} entities of {found.entities.shape[1]} numbers, "
        f"{len(found.relations):,} relations of {found.relations.shape[1]}{inverses}"
    )
