"""``clausal nearest``: the neighbours of an entity or a relation in the space of vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clausal.choices import Metric, VectorKind
from clausal.cli.index import IndexOption, with_index
from clausal.cli.inputs import DeviceOption
from clausal.cli.output import Format, FormatOption, NamesOption, print_results, shown_names
from clausal.errors import InputError


def nearest(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of a finished training.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="An entity, or with --kind relation a relation.")],
    k: Annotated[int, typer.Option("-k", help="How many neighbours.")] = 10,
    metric: Annotated[
        Metric, typer.Option(help="Near by the angle, by the inner product, or by the distance of two vectors.")
    ] = "cosine",
    kind: Annotated[
        VectorKind, typer.Option(help="Whether the name is that of an entity or of a relation.")
    ] = "entity",
    index: IndexOption = None,
    device: DeviceOption = "auto",
    names: NamesOption = "short",
    format: FormatOption = Format.table,
) -> None:
    """List the entities or relations whose vectors are nearest to that of one."""
    from clausal.run import load

    if index is not None and kind != "entity":
        raise InputError("an index is of entities; leave out --index for relations")
    loaded = load(run, device=device)
    if index is not None:
        loaded = with_index(loaded, index, metric)
    found = loaded.nearest(name, k, metric=metric, kind=kind)
    display = shown_names(loaded.graph, names, format)
    show = display.entity if kind == "entity" else display.relation
    print_results(
        format,
        [neighbour._asdict() | {"name": show(neighbour.name)} for neighbour in found],
        [neighbour._asdict() for neighbour in found],
        title=f"nearest to {name}, {metric}",
        columns=("rank", "name", "score"),
        names=("name",),
        whole=names == "full",
    )
