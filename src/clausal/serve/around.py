"""What is around an entity: its facts, predictions, neighbours in the graph and in the space of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from clausal.choices import Metric
from clausal.serve.rows import Ids, fact_json, fact_rows, with_names
from clausal.serve.runs import ServedRun

_SIDES = 256
"""Questions about an entity that are asked for its predictions."""


def facts_of(served: ServedRun, entity: int, limit: int) -> dict[str, Any]:
    """Return what the graph has of an entity, and what follows, up to a limit each."""
    known, derived = _known(served, entity), _derived(served, entity)
    rows = fact_rows(served, np.concatenate([known[:limit], derived[:limit]]))
    payload = {
        **served.names.described("entities", served.run.graph.entities[entity]),
        "facts": rows,
        "total": {"known": len(known), "derived": len(derived)},
    }
    return with_names(served, payload, rows)


def predicted_of(served: ServedRun, entity: int, k: int) -> dict[str, Any]:
    """Return the best new facts of an entity that do not follow, over both sides of relations.

    Where there are many relations, these are its own and then those of most facts.
    """
    graph, run = served.run.graph, served.run
    name = graph.entities[entity]
    own = _known(served, entity)
    sides = [(int(one), place) for place in (0, 2) for one in np.unique(own[own[:, place] == entity, 1])]
    often = np.argsort(-served.names.relations.counts, kind="stable").tolist()
    sides += [(one, place) for one in often[:_SIDES] for place in (0, 2) if (one, place) not in set(sides)]
    queries = [
        (name, graph.relations[one], None) if place == 0 else (None, graph.relations[one], name)
        for one, place in sides[:_SIDES]
    ]
    answers = [one for some in run.predict(queries, min(k, 10), new=True) for one in some]
    standings = served.statuses.of_answers(answers)
    both = {answer[1:4]: (answer, standing) for answer, standing in zip(answers, standings, strict=True)}
    found = [(answer, standing) for answer, standing in both.values() if standing.status == "predicted"]
    found.sort(key=lambda one: (-(one[0].probability or 0.0), -one[0].score))
    rows = [fact_json(*one) for one in found[:k]]
    return with_names(served, {"name": name, "facts": rows}, rows)


def neighbours_of(served: ServedRun, entity: int, limit: int) -> dict[str, Any]:
    """Return the facts between an entity, its neighbours, and among them; those with most facts come first."""
    own = np.concatenate([_known(served, entity), _derived(served, entity)])
    others = np.unique(own[:, [0, 2]])
    others = others[others != entity]
    counts = served.names.entities.counts
    kept = others[np.argsort(-counts[others], kind="stable")][: limit - 1]
    nodes = np.append(entity, kept)
    around = np.concatenate([_known(served, int(node)) for node in nodes] + [own])
    inside = np.isin(around[:, 0], nodes) & np.isin(around[:, 2], nodes)
    rows = fact_rows(served, np.unique(around[inside], axis=0))
    names = served.run.graph.entities
    payload = {
        "name": names[entity],
        "entities": [{"name": names[node], "facts": int(counts[node])} for node in nodes.tolist()],
        "facts": rows,
        "left_out": len(others) - len(kept),
    }
    return with_names(served, payload, rows)


def nearest_to(served: ServedRun, entity: int, k: int, metric: Metric) -> dict[str, Any]:
    """Return the entities whose vectors are nearest."""
    name = served.run.graph.entities[entity]
    found = [one._asdict() for one in served.run.nearest(name, k, metric=metric)]
    shown = [{"subject": one["name"]} for one in found]
    return with_names(served, {"name": name, "metric": metric, "nearest": found}, shown)


def _known(served: ServedRun, entity: int) -> Ids:
    return served.known.around(entity)


def _derived(served: ServedRun, entity: int) -> Ids:
    """Return what follows and the graph does not have."""
    if served.statuses.all is None:
        return np.empty((0, 3), np.int64)
    found = served.statuses.all.facts.around(entity)
    return found[~served.known.has(found)]
