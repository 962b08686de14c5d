"""``clausal predict``: questions to a run, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clausal.cli.output import Format, FormatOption, print_results, say


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
    format: FormatOption = Format.table,
) -> None:
    """Answer a question with the best names, their scores, and whether the fact is known."""
    from clausal.run import Answer, load

    answers = [answer._asdict() for answer in load(run).predict(query, k, new=new)]
    rows = [{**answer, "split": answer["split"] or ""} for answer in answers]
    print_results(format, rows, answers, title=query, columns=Answer._fields)
    if not answers:
        say("no answers: the graph has every fact that could be one")
