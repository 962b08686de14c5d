"""Reasons beside answers, and scores of many facts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from clausal.choices import RankingName
from clausal.graph.query import Fact, Query
from clausal.serve.batching import Answered
from clausal.serve.batching import Query as Names
from clausal.serve.problems import Problem
from clausal.serve.proving import reasons
from clausal.serve.rows import fact_json
from clausal.serve.runs import ServedRun

_PIECE = 500


def explained(
    served: ServedRun,
    queries: Sequence[Names],
    found: Sequence[Answered],
    results: Sequence[dict[str, Any]],
    ranking: RankingName,
    most: int,
) -> None:
    """Give each answer of the results its explanation: a proof or what is missing, or the votes of rules."""
    if sum(map(len, found)) > most:
        raise Problem(422, f"up to {most} answers are explained in a request; ask for fewer")
    for query, answers, result in zip(queries, found, results, strict=True):
        if ranking == "fused":
            votes = served.run.explain_votes(str(Query(*query)), [answer for answer, _ in answers])
            why = [one.to_json() for one in votes]
        else:
            why = [reasons(served, Fact(one.subject, one.relation, one.object), 3) for one, _ in answers]
        for row, reason in zip(result["answers"], why, strict=True):
            row["explanation"] = reason


def scored(
    served: ServedRun,
    facts: Sequence[tuple[str, str, str]],
    ranking: RankingName,
    unknown: str,
    *,
    consistent: bool = False,
) -> bytes:
    """Score facts given by names, in their order; those with an unknown name are refused, or have nulls.

    Returns JSON, which is written in pieces, so that other threads come to their turn.
    """
    if not facts:
        return _written(served, ranking, [], 0)
    found = served.run.score(list(facts), ranking=ranking, unknown=unknown, consistent=consistent)  # type: ignore[arg-type]
    standings = served.statuses.of_facts(found.facts, found.known.tolist())
    rows: list[dict[str, Any] | None] = [None] * len(facts)
    for place, one, standing in zip(found.rows.tolist(), found, standings, strict=True):
        rows[place] = fact_json(one, standing)
    return _written(served, ranking, rows, found.skipped)


def _written(served: ServedRun, ranking: str, rows: Sequence[dict[str, Any] | None], skipped: int) -> bytes:
    pieces = [json.dumps(rows[start : start + _PIECE])[1:-1] for start in range(0, len(rows), _PIECE)]
    head = json.dumps({"run": served.name, "ranking": ranking, "skipped": skipped})[:-1]
    return f'{head}, "facts": [{",".join(pieces)}]}}'.encode("ascii")
