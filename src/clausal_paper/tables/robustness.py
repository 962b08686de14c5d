"""How robust the rows of a table are: certificates of all clauses of the data set, whatever a row was trained with.

The paper says that adversarial sets make a model more robust. A certificate bounds by how much a clause can be violated
by any vectors of the domain; beside it stands how often real entities violate it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from clausal.config import Settings
from clausal.errors import InputError
from clausal.graph import Graph
from clausal.logic import Clause
from clausal.observer import Observer
from clausal.run import Run
from clausal_paper.provenance import provenance
from clausal_paper.tables.rows import TableRow
from clausal_paper.tables.run import Record
from clausal_paper.tables.training import describe, settings_of, train_row

ROWS = ("complex", "asr-complex", "casr-complex")
"""The rows that are certified where none are named: a base, and the same with clauses by both adversaries."""


def certify_row(
    row: TableRow,
    graph: Graph,
    clauses: Sequence[Clause],
    seed: int = 0,
    *,
    changes: Sequence[str] = (),
    observer: Observer | None = None,
) -> Record:
    """Train a row, and certify the model that was best on valid by all clauses of its data set."""
    settings = settings_of(row, seed, changes)
    if not isinstance(settings, Settings):
        raise InputError(f"{row.name}: has no certificates; choose rows of DistMult or ComplEx")
    started = time.perf_counter()
    seen = row.graph(graph, clauses, seed)
    trained = train_row(row, seen, clauses, settings, observer=observer)
    run = Run(trained.predictor, seen, list(clauses), settings, {})
    found = run.certify(clauses, region="domain", observer=observer)
    certificates = [one.to_dict() for one in found.clauses]
    return {
        "table": row.table,
        "row": row.name,
        "seed": seed,
        "settings": describe(settings),
        "trained_with": len(row.clauses(clauses)),
        "best_epoch": trained.best_epoch,
        "valid_mrr": trained.valid_mrr,
        "tolerance": found.tolerance,
        "verdicts": found.verdicts,
        **_summary(certificates),
        "clauses": certificates,
        "seconds": round(time.perf_counter() - started, 2),
        **provenance(trained.predictor.device.type),
    }


def _summary(certificates: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return means over clauses: of bounds, of what was attained, and of the rate and size over real entities."""
    bounds = [one["bound"] for one in certificates if one["bound"] is not None]
    checked = [one["entities"] for one in certificates if one["entities"]]
    return {
        "bound": round(fmean(bounds), 5) if bounds else None,
        "largest_bound": round(max(bounds), 5) if bounds else None,
        "attained": round(fmean(one["attained"] for one in certificates), 5),
        "rate": round(fmean(one["rate"] for one in checked), 7) if checked else None,
        "checked": len(checked),
    }
