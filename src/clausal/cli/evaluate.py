"""``clausal evaluate``: how well a run ranks facts, or tells true facts from false ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from clausal.choices import Filter, Ties
from clausal.cli.closure import EntailedOption, say_left_out
from clausal.cli.inputs import DeviceOption, read_clauses
from clausal.cli.output import Format, FormatOption, print_results, say
from clausal.cli.progress import Bars
from clausal.errors import InputError


def evaluate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of a finished training.")],
    split: Annotated[str, typer.Option(help="train, valid, test, a part such as test-I, or a file of facts.")] = "test",
    ties: Annotated[Ties, typer.Option(help="Rank among equal scores: mean, best or worst.")] = "realistic",
    filter: Annotated[
        Filter,
        typer.Option(help="'partial' ranks each part of test without the rest of test in the filter, as the paper."),
    ] = "full",
    relations: Annotated[bool, typer.Option("--relations", help="Metrics of each relation too.")] = False,
    entailed: EntailedOption = None,
    clauses: Annotated[
        str | None, typer.Option(metavar="FILE", help="With --entailed, clauses that entail instead of the run's.")
    ] = None,
    classify: Annotated[
        bool,
        typer.Option("--classify", help="Instead: tell the facts from random corruptions, with probabilities."),
    ] = False,
    labelled: Annotated[
        Path | None,
        typer.Option(help="Instead: the same for a file of facts with a label in a fourth column."),
    ] = None,
    columns: Annotated[str, typer.Option(help="Order of the columns when facts come from a file.")] = "sro",
    device: DeviceOption = "auto",
    format: FormatOption = Format.table,
) -> None:
    """Evaluate a run by filtered ranking, or by classification of true and false facts."""
    from clausal.cli.output import classification_rows, evaluation_rows
    from clausal.graph import read_facts, read_labelled
    from clausal.run import load

    if (classify or labelled is not None) and entailed is not None:
        raise InputError("--entailed is about ranking; leave out --classify and --labelled")
    if clauses is not None and entailed is None:
        raise InputError("--clauses says what train entails; add --entailed first")
    loaded = load(run, device=device)
    others = None if clauses is None else read_clauses(clauses)
    graph = loaded.graph
    chosen: Any = split
    if split in graph.parts:
        chosen = graph.parts[split]
    elif split not in graph.splits and labelled is None:
        chosen = read_facts(split, graph.entities, graph.relations, columns)
    if classify or labelled is not None:
        found = (
            loaded.classify(chosen) if labelled is None else loaded.classify(*read_labelled(labelled, graph, columns))
        )
        if found.calibration is None:
            say("note: too few valid facts to calibrate scores by, so there are no probabilities and no thresholds")
        what = f"{split} and random corruptions" if labelled is None else str(labelled)
        rows = classification_rows(found, what, relations)
        print_results(format, rows, found.to_dict(per_relation=relations), title=f"{run}: classification")
        return
    if entailed is not None:
        say_left_out(loaded.closure_under(others))
    with Bars() as bars:
        evaluation = loaded.evaluate(
            chosen,
            ties=ties,
            filter=filter,
            per_relation=relations,
            entailed="first" if entailed else None,
            clauses=others,
            observer=bars,
        )
    payload = evaluation.to_dict() | ({} if split in graph.splits else {"split": split})
    name = "filtered ranking" if entailed is None else "filtered ranking, entailed first"
    title = f"{run}: {name}, {ties} ties, {filter} filter"
    print_results(format, evaluation_rows(payload, raw=True), payload, title=title)
