"""``clausal predict``: questions to a run, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clausal.cli.closure import EntailedOption, say_left_out
from clausal.cli.inputs import DeviceOption, read_clauses
from clausal.cli.output import Format, FormatOption, print_results, print_text, say
from clausal.errors import InputError


def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of a finished training.")],
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help="'relation(subject, ?)', 'relation(?, object)', '?(subject, object)', or one whole fact.",
        ),
    ],
    k: Annotated[int, typer.Option("-k", help="How many answers.")] = 10,
    new: Annotated[bool, typer.Option("--new", help="Leave out facts that the graph already has.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Why: a proof from train by the run's clauses, or what is missing.")
    ] = False,
    entailed: EntailedOption = None,
    clauses: Annotated[
        str | None, typer.Option(metavar="FILE", help="Explain and entail by these clauses instead of the run's.")
    ] = None,
    device: DeviceOption = "auto",
    format: FormatOption = Format.table,
) -> None:
    """Answer a question with the best names, their scores, and whether the fact is known."""
    from clausal.graph.query import parse_query, query_ids
    from clausal.run import Answer, load

    if clauses is not None and not explain and entailed is None:
        raise InputError("--clauses says what to explain answers by; add --explain or --entailed first")
    loaded = load(run, device=device)
    others = None if clauses is None else read_clauses(clauses)
    if entailed is not None:
        # A misspelt name is reported before a closure that may take long.
        query_ids(parse_query(query, loaded.graph), loaded.graph)
        say_left_out(loaded.closure_under(others))
    answers = loaded.predict(query, k, new=new, entailed="first" if entailed else None, clauses=others)
    explanations = loaded.explain(answers, clauses=others) if explain else []
    shown = {"probability": loaded.calibration is not None, "verdict": explain or entailed is not None}
    columns = [name for name in Answer._fields if shown.get(name, True)]
    payload = [{name: value for name, value in answer._asdict().items() if name in columns} for answer in answers]
    if explain:
        payload = [{**answer, **why.to_json()} for answer, why in zip(payload, explanations, strict=True)]
    rows = [{name: "" if answer[name] is None else answer[name] for name in columns} for answer in payload]
    print_results(format, rows, payload, title=query, columns=columns)
    if format is Format.table and explanations:
        print_text("\n".join(map(str, explanations)))
    if not answers:
        say("no answers: the graph has every fact that could be one")
