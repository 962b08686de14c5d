"""Facts as JSON has them: in names, with status, score and probability."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.run import Answer, Run
from clausal.run.scoring import ScoredFact
from clausal.serve.runs import ServedRun
from clausal.serve.statuses import Standing, Statuses

Ids = NDArray[np.integer[Any]]


def fact_json(one: Answer | ScoredFact, standing: Standing) -> dict[str, Any]:
    """Return an answer, or a fact with its score, as JSON has it."""
    return {
        "subject": one.subject,
        "relation": one.relation,
        "object": one.object,
        "status": standing.status,
        "confidence": standing.confidence,
        "follows": standing.follows,
        "score": one.score if isfinite(one.score) else None,  # JSON has no infinity
        "probability": one.probability,
        "split": one.split,
    }


def answer_json(answer: Answer, standing: Standing) -> dict[str, Any]:
    """Return an answer with its rank."""
    return {"rank": answer.rank, **fact_json(answer, standing)}


def fact_rows(served: ServedRun, facts: Ids) -> list[dict[str, Any]]:
    """Return facts given by ids [facts, 3], in their order."""
    return rows_of(served.run, served.statuses, facts)


def rows_of(run: Run, statuses: Statuses, facts: Ids) -> list[dict[str, Any]]:
    """Return facts given by ids [facts, 3], in their order, as a run and its statuses see them."""
    facts = np.asarray(facts, np.int64).reshape(-1, 3)
    if not len(facts):
        return []
    found = run.score(facts)
    standings = statuses.of_facts(facts, found.known.tolist())
    return [fact_json(one, standing) for one, standing in zip(found, standings, strict=True)]


def with_names(served: ServedRun, payload: dict[str, Any], *rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a payload with the run's name in front, and how its names are shown where that differs."""
    return {"run": served.name, **payload, **served.names.shown(row for some in rows for row in some)}
