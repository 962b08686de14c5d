"""One training of one row: from a graph, its clauses and a seed to a record of what was measured, ready for JSON.

Nothing here reads files or needs more than torch and numpy, so that a machine that only trains can do it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clausal.config import Settings
from clausal.evaluation import Evaluation, Ranker, evaluate
from clausal.evaluation.evaluate import Filter
from clausal.evaluation.ranks import Ties
from clausal.experiments.provenance import provenance
from clausal.experiments.tables.limited import limit
from clausal.experiments.tables.paper import METRICS
from clausal.experiments.tables.rows import Row
from clausal.graph.graph import Graph
from clausal.logic import Clause
from clausal.training import PassReport, prepare

_LOG = logging.getLogger("clausal")
_TIES: tuple[Ties, ...] = ("realistic", "optimistic")

Record = dict[str, Any]
OnPass = Callable[[PassReport], None]
OnEpoch = Callable[[dict[str, Any]], None]


def row_settings(row: Row, seed: int = 0, changes: Sequence[str] = ()) -> Settings:
    """Return the settings of a row's preset, with ``section.key=value`` changes and the seed."""
    return Settings.load(None, [*changes, f"train.seed={seed}"], preset=row.preset)


def run_row(
    row: Row,
    graph: Graph,
    clauses: Sequence[Clause],
    seed: int = 0,
    *,
    changes: Sequence[str] = (),
    on_pass: OnPass | None = None,
    on_epoch: OnEpoch | None = None,
    tell: Callable[[str], None] = _LOG.info,
) -> Record:
    """Train a row on its data set, given whole and with all of its clauses, and measure it on test.

    Where the row is one of limited data, the seed draws the facts too, so that every row sees the same ones.
    """
    settings = row_settings(row, seed, changes)
    if row.share is not None:
        graph = limit(graph, clauses, row.share, seed)
    used = row.clauses(clauses)
    training = prepare(graph, used, settings, tell=tell)
    started = time.perf_counter()
    predictor = training.run(on_pass, on_epoch).eval()
    seconds = time.perf_counter() - started
    at = training.position
    return {
        "table": row.table,
        "row": row.name,
        "seed": seed,
        "settings": settings.model_dump(mode="json", exclude_none=True),
        "clauses": len(used),
        "train_facts": len(graph.train),
        "valid_mrr": round(at.best, 5) if at.best_epoch else None,
        "best_epoch": at.best_epoch or at.epoch,
        "seconds": round(seconds, 2),
        "step": training.step.name,
        "metrics": measure(predictor, graph),
        **provenance(),
    }


def measure(predictor: Ranker, graph: Graph) -> dict[str, dict[str, Any]]:
    """Return the table's metrics, as shares, by filter (``full``, ``partial``), ties, and part of test."""
    filters: tuple[Filter, ...] = ("full", "partial") if graph.parts else ("full",)
    evaluations = {filter: evaluate(predictor, graph, filter=filter) for filter in filters}
    return {filter: {ties: _parts(found.with_ties(ties)) for ties in _TIES} for filter, found in evaluations.items()}


def _parts(evaluation: Evaluation) -> dict[str, Mapping[str, float]]:
    parts = {part: found["filtered"]["both"] for part, found in evaluation.parts.items()}
    return {part: _rounded(found) for part, found in (parts | {"test": evaluation.filtered["both"]}).items()}


def _rounded(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: round(metrics[name], 5) for name in ("hits@1", *METRICS)}
