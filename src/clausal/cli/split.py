"""``clausal split``: a graph as train, valid and test, at random by facts or by entities."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from clausal.cli.inputs import GraphArgument, read_graph, reads_graph
from clausal.cli.output import Format, FormatOption, print_results, say
from clausal.errors import InputError
from clausal.files import check_new_folder, write_text

DESCRIPTIONS = "descriptions.tsv"


@reads_graph
def split(
    graph: GraphArgument,
    out: Annotated[Path, typer.Option(metavar="DIR", help="New folder for train, valid and test.")],
    inductive: Annotated[
        Literal["entities"] | None,
        typer.Option(
            metavar="entities",
            help="Hold out entities with all their facts: train has none of valid or test, valid none of test.",
        ),
    ] = None,
    valid: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the facts, or of the entities, that valid gets.")
    ] = 0.1,
    test: Annotated[float, typer.Option(metavar="SHARE", help="The same for test.")] = 0.1,
    split_seed: Annotated[int, typer.Option(metavar="NUMBER", min=0, help="Seed of what is drawn.")] = 0,
    format: FormatOption = Format.table,
) -> None:
    """Split all facts of a graph anew into train, valid and test; by entities for inductive evaluation."""
    import numpy as np

    from clausal.graph import write_graph
    from clausal.graph.labels import DESCRIBING, Labels

    check_new_folder(out)
    loaded = read_graph(graph, whole=True)
    if len(loaded.valid) or len(loaded.test):
        say("note: the facts of train, valid and test are split anew, all together")
    shares = {"valid": valid, "test": test}
    if inductive is None:
        together = replace(loaded, train=loaded.known, valid=loaded.valid[:0], test=loaded.test[:0], parts={})
        made = together.split(**shares, seed=split_seed)
    else:
        made = loaded.split_by_entities(**shares, seed=split_seed)
    if not len(made.train):
        raise InputError(f"{loaded.name}: nothing is left for train; hold out smaller shares: --valid and --test")
    for name, share in shares.items():
        if share and not len(made.splits[name]):
            say(f"note: {name} has no facts: every entity is needed in train")
    write_graph(out, made)
    say(f"written to {out}")
    if texts := Labels(loaded.literals, properties=DESCRIBING).joined():
        lines = (f"{name}\t{text}\n" for name, text in texts.items() if name in loaded.entities)
        write_text(out / DESCRIPTIONS, "".join(lines))
        say(f"labels and comments written to {out / DESCRIPTIONS}, for train --text")
    rows = []
    seen = np.zeros(len(made.entities), np.bool_)
    for name, facts in made.splits.items():
        own = np.unique(facts[:, [0, 2]])
        rows.append({"split": name, "facts": len(facts), "entities": len(own), "new entities": int((~seen[own]).sum())})
        seen[own] = True
    rows += [
        {"split": name, "facts": len(facts), "entities": len(np.unique(facts[:, [0, 2]])), "new entities": ""}
        for name, facts in made.parts.items()
    ]
    payload = {str(row.pop("split")): row for row in [dict(row) for row in rows]}
    print_results(format, rows, payload, title=f"{loaded.name}, split by {inductive or 'facts'}")
