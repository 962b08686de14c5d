"""What if: the closure under other clauses and from other facts, beside the one that is, and answers by both."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clausal.errors import RunError
from clausal.graph.facts import Facts, fact_keys
from clausal.graph.query import fact_ids
from clausal.logic.check import check_clauses
from clausal.logic.closure import close
from clausal.logic.parser import parse_clauses
from clausal.logic.resolve import resolve_names
from clausal.logic.syntax import Clause
from clausal.observer import Observer
from clausal.run import Run
from clausal.run.closures import keep_closure
from clausal.serve.batching import Query
from clausal.serve.limits import Limits
from clausal.serve.questions import read_fact, read_questions
from clausal.serve.requests import WhatIfBody
from clausal.serve.rows import answer_json, fact_rows, rows_of, with_names
from clausal.serve.runs import ServedRun
from clausal.serve.statuses import Statuses


class _InTime(Observer):
    """Ends a closure that takes too long."""

    def __init__(self, seconds: float) -> None:
        self._until, self._seconds = time.monotonic() + seconds, seconds

    def derived(self, round: int, new: int, total: int, seconds: float) -> None:
        if time.monotonic() > self._until:
            raise RunError(f"the closure takes longer than {self._seconds:g} seconds; switch fewer clauses on")


def suppose(served: ServedRun, asked: WhatIfBody, limits: Limits) -> dict[str, Any]:
    """Return what follows no more and what now follows, and the answers to a question before and after."""
    run, graph = served.run, served.run.graph
    off = {served.clause(number) for number in asked.clauses_off}
    clauses: list[Clause] = [clause for clause in run.clauses if clause not in off]
    added = [clause for text in asked.clauses_on for clause in parse_clauses(text, source="clauses_on")]
    clauses += resolve_names(added, graph)
    check_clauses(clauses, graph.entities, graph.relations)
    train = _changed(served, asked)
    before = graph.train if served.statuses.all is None else served.statuses.all.closure.facts
    changed = replace(run, graph=replace(graph, train=train), clauses=clauses)
    after = train
    if clauses:
        closure = close(changed.graph, clauses, limit=limits.closure, observer=_InTime(limits.seconds))
        keep_closure(changed, closure)
        after = closure.facts
    statuses = Statuses(changed)
    sizes = len(graph.entities), len(graph.relations)
    gained, lost = _difference(after, before, *sizes), _difference(before, after, *sizes)
    payload: dict[str, Any] = {
        "before": len(before) - len(graph.train),
        "entailed": len(after) - len(train),
        "gained_total": len(gained),
        "lost_total": len(lost),
        "gained": rows_of(changed, statuses, gained[: asked.limit]),
        "lost": fact_rows(served, lost[: asked.limit]),
        "query": None,
        "answers_before": [],
        "answers_after": [],
    }
    if asked.query is not None:
        (query,) = read_questions([asked.query], graph)
        payload["query"] = dict(zip(("subject", "relation", "object"), query, strict=True))
        payload["answers_before"] = _answers(run, served.statuses, query, asked.k)
        payload["answers_after"] = _answers(changed, statuses, query, asked.k)
    rows = [payload[name] for name in ("gained", "lost", "answers_before", "answers_after")]
    return with_names(served, payload, *rows)


def _changed(served: ServedRun, asked: WhatIfBody) -> Facts:
    graph = served.run.graph

    def ids(facts: Sequence[Any]) -> Facts:
        rows = [fact_ids(read_fact(fact, graph), graph) for fact in facts]
        return np.array(rows, dtype=graph.train.dtype).reshape(-1, 3)

    sizes = len(graph.entities), len(graph.relations)
    kept = graph.train[~np.isin(fact_keys(graph.train, *sizes), fact_keys(ids(asked.facts_off), *sizes))]
    added = ids(asked.facts_on)
    added = added[~np.isin(fact_keys(added, *sizes), fact_keys(kept, *sizes))]
    return np.concatenate([kept, np.unique(added, axis=0)])


def _difference(facts: Facts, others: Facts, entities: int, relations: int) -> Facts:
    """Return the facts that are not among others."""
    keys, without = fact_keys(facts, entities, relations), fact_keys(others, entities, relations)
    found: Facts = facts[~np.isin(keys, without)]
    return found


def _answers(run: Run, statuses: Statuses, query: Query, k: int) -> list[dict[str, Any]]:
    answers = run.predict(query, k, ranking="entailed" if run.clauses else "model")
    standings = statuses.of_answers(answers)
    return [answer_json(*one) for one in zip(answers, standings, strict=True)]
