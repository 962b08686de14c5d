"""Clauses as JSON has them: what they count in train, their certificates, and instances of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from clausal.graph.query import name_fact
from clausal.logic import Measures
from clausal.logic.grounding import FactIndex, ground
from clausal.logic.rules import Rule, encode_rules
from clausal.logic.syntax import Falsum
from clausal.serve.rows import fact_rows
from clausal.serve.runs import ServedRun

_INSTANCES = 100_000
"""Instances of a clause's body that are looked at."""
_SHOWN = 20


def all_clauses(served: ServedRun) -> dict[str, Any]:
    """Return all clauses of a run."""
    clauses = [_clause(served, number, found) for number, found in enumerate(served.measures)]
    return {"run": served.name, "clauses": clauses, "tolerance": served.tolerance}


def one_clause(served: ServedRun, number: int) -> dict[str, Any]:
    """Return a clause, with instances whose head train does not have.

    ``exceptions`` are those that the model believes least, ``uses`` those that it believes most.
    """
    served.clause(number)
    found = _clause(served, number, served.measures[number]) | {"run": served.name, "tolerance": served.tolerance}
    graph = served.run.graph
    rules = encode_rules([served.clause(number)], graph.entities, graph.relations)
    instances: list[dict[str, Any]] = []
    cut = False
    for group in rules.groups:
        for rule in group.rules:
            rows, more = _instances(served, rule)
            instances += rows
            cut |= more
    instances.sort(key=lambda one: one["head"]["score"] if one["head"] else 0.0)
    return found | {
        "left_out": [one.reason for one in rules.left_out],
        "exceptions_shown": instances[:_SHOWN],
        "uses": instances[::-1][:_SHOWN],
        "unsupported": len(instances),
        "cut": cut,
    }


def _clause(served: ServedRun, number: int, measures: Measures | None) -> dict[str, Any]:
    clause = served.clause(number)
    certificate, of_all = served.certificates.get(str(clause)), served.measures_of_all[number]
    return {
        "id": number,
        "clause": str(clause),
        "shown": served.names.clause(clause),
        "weight": clause.weight,
        "certainty": clause.certainty,
        "confidence": clause.confidence if measures is None else measures.confidence,
        "pca_confidence": None if measures is None else measures.pca_confidence,
        "support": clause.support if measures is None else measures.support,
        "predictions": None if measures is None else measures.body,
        "exceptions": None if measures is None else measures.body - measures.support,
        "all_facts": None
        if of_all is None
        else {"confidence": of_all.confidence, "support": of_all.support, "exceptions": of_all.body - of_all.support},
        "certificate": certificate,
    }


def _instances(served: ServedRun, rule: Rule) -> tuple[list[dict[str, Any]], bool]:
    """Return the instances of a rule's body in train whose head train does not have, the heads each once."""
    graph = served.run.graph
    index = FactIndex(graph.train, len(graph.entities), len(graph.relations))
    found = ground(index, rule, most=_INSTANCES)
    if not found.count:
        return [], found.cut
    bodies = [[int(found.rows[position][place]) for position in sorted(found.rows)] for place in range(found.count)]
    if isinstance(rule.shape.head, Falsum):
        chosen = range(min(found.count, 2 * _SHOWN))
        return [{"body": _named(served, bodies[place]), "head": None} for place in chosen], found.cut
    columns = [found.entities.get(slot) for slot in rule.shape.head.slots]
    if any(column is None for column in columns):
        return [], found.cut
    heads = np.stack([columns[0], np.full(found.count, rule.relations[-1]), columns[1]], 1).astype(np.int64)  # type: ignore[list-item]
    lacking = np.flatnonzero(~served.splits.train.has(heads))
    _, first = np.unique(heads[lacking], axis=0, return_index=True)
    chosen_places = lacking[np.sort(first)]
    scores = served.run.score(heads[chosen_places]).scores if len(chosen_places) else np.empty(0)
    order = np.argsort(scores, kind="stable")
    ends = np.unique(np.concatenate([order[:_SHOWN], order[-_SHOWN:]]))
    kept = chosen_places[ends]
    rows = fact_rows(served, heads[kept])
    return [
        {"body": _named(served, bodies[place]), "head": row} for place, row in zip(kept.tolist(), rows, strict=True)
    ], found.cut


def _named(served: ServedRun, rows: list[int]) -> list[dict[str, str]]:
    graph = served.run.graph
    return [name_fact(graph, graph.train[row].tolist())._asdict() for row in rows]
