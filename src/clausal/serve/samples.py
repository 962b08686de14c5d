"""Some facts of a relation, from its beginning to its end."""

from __future__ import annotations

from typing import Any

import numpy as np

from clausal.serve.problems import Problem
from clausal.serve.rows import fact_rows, with_names
from clausal.serve.runs import ServedRun


def facts_of_relation(served: ServedRun, name: str, limit: int) -> dict[str, Any]:
    """Return facts of a relation, evenly chosen among all that the graph has."""
    graph = served.run.graph
    if name not in graph.relations:
        raise Problem(404, f"no relation '{name[:200]}'; search for it: /v1/relations?q=")
    facts = graph.known[graph.known[:, 1] == graph.relations.id(name)]
    chosen = np.unique(np.linspace(0, max(0, len(facts) - 1), min(len(facts), limit)).astype(np.int64))
    rows = fact_rows(served, facts[chosen])
    payload = {**served.names.described("relations", name), "facts": rows, "total": len(facts)}
    return with_names(served, payload, rows)
