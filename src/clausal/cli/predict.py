"""``clausal predict``: questions to a run, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clausal.cli.inputs import read_clauses
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
    clauses: Annotated[
        str | None, typer.Option(metavar="FILE", help="Explain by these clauses instead of the run's.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Answer a question with the best names, their scores, and whether the fact is known."""
    from clausal.run import Answer, load

    if clauses is not None and not explain:
        raise InputError("--clauses says what to explain answers by; add --explain")
    other = None if clauses is None else read_clauses(clauses)
    loaded = load(run)
    answers = loaded.predict(query, k, new=new)
    explanations = loaded.explain(answers, clauses=other) if explain else []
    payload = [answer._asdict() for answer in answers]
    rows = [{**answer, "split": answer["split"] or ""} for answer in payload]
    columns = [*Answer._fields]
    if explain:
        columns.append("verdict")
        rows = [{**row, "verdict": why.verdict} for row, why in zip(rows, explanations, strict=True)]
        payload = [{**answer, **why.to_json()} for answer, why in zip(payload, explanations, strict=True)]
    print_results(format, rows, payload, title=query, columns=columns)
    if format is Format.table and explanations:
        print_text("\n".join(map(str, explanations)))
    if not answers:
        say("no answers: the graph has every fact that could be one")
