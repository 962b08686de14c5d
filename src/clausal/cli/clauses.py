"""``clausal clauses``: what a file of rules says, what of it holds in a graph, and the same rules in another format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clausal.cli.inputs import (
    ColumnsOption,
    SplitSeedOption,
    TestOption,
    ValidOption,
    locate_clauses,
    read_clauses,
    read_graph,
)
from clausal.cli.output import Format, FormatOption, say
from clausal.cli.progress import Bars
from clausal.errors import InputError

if TYPE_CHECKING:
    from clausal.logic import Clause, Measures


def clauses(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Rules in any known format, or a data set's name.")],
    graph: Annotated[
        str | None, typer.Option(help="Graph in whose train facts the clauses are counted: as for clausal train.")
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="clausal, kale, prolog, anyburl, amie, ruge, aer, itere, rnnlogic, rdfrules or owl; "
            "by default what the file looks like.",
        ),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help="Convert to clausal, kale, prolog or anyburl.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="New file for the converted clauses; stdout by default.")] = None,
    weigh: Annotated[
        bool, typer.Option("--weigh", help="Write each clause with its confidence in the graph as its weight.")
    ] = False,
    min_confidence: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Write only clauses with at least this confidence in the graph."),
    ] = None,
    columns: ColumnsOption = "sro",
    valid: ValidOption = None,
    test: TestOption = None,
    split_seed: SplitSeedOption = None,
    format: FormatOption = Format.table,
) -> None:
    """Show what a file of rules says and what of it holds in a graph, or convert it."""
    from clausal.cli.clause_report import print_report, review
    from clausal.logic.formats import detect_format
    from clausal.logic.lines import check_new_file

    choosing = weigh or min_confidence is not None
    if choosing and graph is None:
        raise InputError("--weigh and --min-confidence count the clauses in a graph; name one with --graph")
    if out is not None:
        check_new_file(out)
    name = from_ or detect_format(locate_clauses(file))
    given = read_clauses(file, name, None if graph is None else Path(graph))
    measured: Sequence[Measures | None] = [None] * len(given)
    loaded = None
    if graph is not None:
        from clausal.logic import measure_clauses

        loaded = read_graph(graph, columns=columns, valid=valid, test=test, split_seed=split_seed)
        with Bars() as bars:
            measured = measure_clauses(given, loaded, observer=bars)
    if to is not None or out is not None or choosing:
        _convert(_chosen(given, measured, weigh, min_confidence), to or "clausal", out)
        if out is None:
            return
    print_report(format, review(file, name, given, loaded, measured))


def _convert(clauses: Sequence[Clause], format: str, out: Path | None) -> None:
    from clausal.logic.formats import print_rules, write_rules

    if format == "kale" and any(clause.weight != 1 for clause in clauses):
        say("note: KALE's format has no place for weights; they were left out")
    if out is not None:
        write_rules(out, clauses, format)
        say(f"wrote {len(clauses):,} clauses to {out} as {format}")
        return
    for line in list(print_rules(clauses, format)):  # all or nothing: a clause may have no form in this format
        print(line)


def _chosen(
    given: Sequence[Clause], measured: Sequence[Measures | None], weigh: bool, min_confidence: float | None
) -> list[Clause]:
    """Return the clauses that are asked for, as they are to be written."""
    from clausal.logic import confident_clauses, weigh_clauses

    clauses: Sequence[Clause] = given
    if min_confidence is not None:
        clauses, measured = confident_clauses(given, measured, min_confidence)
        say(f"{len(clauses):,} of {len(given):,} clauses have a confidence of at least {min_confidence:g}")
    clauses = weigh_clauses(clauses, measured) if weigh else clauses
    return _with_measures(clauses, measured)


def _with_measures(clauses: Sequence[Clause], measured: Sequence[Measures | None]) -> list[Clause]:
    """Give the clauses that nobody counted the confidence and support that they have in the graph."""
    return [
        replace(clause, confidence=measures.confidence, support=measures.support)
        if measures is not None and clause.confidence is None and clause.support is None
        else clause
        for clause, measures in zip(clauses, measured, strict=True)
    ]
