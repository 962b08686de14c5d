"""``clausal predict``: questions to a run, by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clausal.cli.closure import EntailedOption, RankingOption, say_left_out
from clausal.cli.inputs import DeviceOption, read_clauses
from clausal.cli.output import Format, FormatOption, print_results, print_text, say
from clausal.errors import InputError

if TYPE_CHECKING:
    from clausal.fusion import FusedExplanation
    from clausal.run import Explanation


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
        bool,
        typer.Option("--explain", help="Why: a proof by the run's clauses or what is missing; fused, the votes."),
    ] = False,
    ranking: RankingOption = None,
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
    from clausal.run.ranking import find_ranking

    chosen = find_ranking(ranking, None if entailed is None else entailed.value)
    if clauses is not None and chosen != "entailed" and not (explain and chosen == "model"):
        raise InputError("--clauses says what to explain answers by; add --explain or --ranking entailed")
    if explain and chosen == "rules":
        raise InputError("--explain says what rules contributed to the fused ranking; add --ranking fused")
    loaded = load(run, device=device)
    others = None if clauses is None else read_clauses(clauses)
    if chosen == "entailed":
        # A misspelt name is reported before a closure that may take long.
        query_ids(parse_query(query, loaded.graph), loaded.graph)
        say_left_out(loaded.closure_under(others))
    answers = loaded.predict(query, k, new=new, ranking=chosen, clauses=others)
    explanations: Sequence[Explanation | FusedExplanation] = []
    if explain and chosen == "fused":
        explanations = loaded.explain_votes(query, answers)
    elif explain:
        explanations = loaded.explain(answers, clauses=others)
    shown = {
        "probability": any(answer.probability is not None for answer in answers),
        "verdict": chosen == "entailed" or (explain and chosen == "model"),
    }
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
