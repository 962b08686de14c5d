"""One training of one row: from a graph, its clauses and a seed to a record of what was measured, ready for JSON.

Nothing here reads files or needs more than torch and numpy, so that a machine that only trains can do it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from clausal.evaluation import EntailedFirst, Evaluation, Filter, Ranker, Ties, evaluate
from clausal.graph import Facts, Graph, occur_in
from clausal.logic import Clause
from clausal.observer import Observer
from clausal_paper.provenance import provenance
from clausal_paper.tables.clauses import ClosureOf, ceilings_of, closure_under, with_deducible_parts
from clausal_paper.tables.published import METRICS
from clausal_paper.tables.rows import TableRow
from clausal_paper.tables.training import Trained, describe, settings_of, train_row

_TIES: tuple[Ties, ...] = ("realistic", "optimistic")

Record = dict[str, Any]


def run_row(
    row: TableRow,
    graph: Graph,
    clauses: Sequence[Clause],
    seed: int = 0,
    *,
    changes: Sequence[str] = (),
    closure: ClosureOf | None = None,
    observer: Observer | None = None,
) -> Record:
    """Train a row on its data set, given whole and with all of its clauses, and measure it on test.

    Where the row is one of limited data, the seed draws the facts too, so that every row sees the same ones.
    ``closure`` computes that of a graph's train facts where a row needs it and there is no DuckDB.
    """
    settings = settings_of(row, seed, changes)
    whole, graph = graph, row.graph(graph, clauses, seed)
    closed = (closure or closure_under(clauses))(graph) if row.on_closure or row.entails else None
    started = time.perf_counter()
    trained = train_row(row, graph, clauses, settings, closure=closed, observer=observer)
    seconds = time.perf_counter() - started
    return {
        "table": row.table,
        "row": row.name,
        "seed": seed,
        "settings": describe(settings),
        "clauses": len(row.clauses(clauses)),
        "train_facts": len(graph.train if closed is None or not row.on_closure else closed),
        "valid_mrr": None if trained.valid_mrr is None else round(trained.valid_mrr, 5),
        "best_epoch": trained.best_epoch,
        "seconds": round(seconds, 2),
        "step": trained.step,
        **_measures(row, trained.predictor, graph, closed, whole),
        **_measures_of_last_epoch(row, trained, graph),
        **provenance(trained.predictor.device.type),
    }


def _measures_of_last_epoch(row: TableRow, trained: Trained, graph: Graph) -> Record:
    """Measure the model of the last epoch, which takes the place of the best, where a training has both."""
    if trained.last is None:
        return {}
    trained.predictor.load_state_dict(trained.last.parameters)
    return {"last_epoch": trained.last.epoch, "last": measure(trained.predictor, graph, row.filters)}


def _measures(row: TableRow, predictor: Ranker, graph: Graph, closure: Facts | None, whole: Graph) -> Record:
    """Measure the model and, under names of their own, the same with the closure first and deduction alone."""
    if closure is None or not row.entails:
        return {"metrics": measure(predictor, graph, row.filters)}
    entailed = EntailedFirst(predictor, closure)
    if row.share is None:
        parted, gone = graph, None
    else:
        parted = with_deducible_parts(graph, closure)
        gone = whole.train[~occur_in(whole.train, graph.train, len(graph.entities), len(graph.relations))]
    return {
        "metrics": measure(predictor, parted, row.filters, gone),
        "entailed": measure(entailed, parted, row.filters, gone),
        "entailed_valid_mrr": _valid_mrr(entailed, graph),
        **({} if gone is None else {"ceiling": ceilings_of(graph, closure, gone)}),
    }


def _valid_mrr(ranker: Ranker, graph: Graph) -> float | None:
    """Return the MRR on valid, by which settings are chosen; None where there are no valid facts."""
    return round(evaluate(ranker, graph, split="valid").filtered["both"]["mrr"], 5) if len(graph.valid) else None


def measure(
    predictor: Ranker, graph: Graph, filters: Sequence[Filter], gone: Facts | None = None
) -> dict[str, dict[str, Any]]:
    """Return the table's metrics, as shares, by filter, ties, and part of test; without parts the filter is full.

    The filter ``whole`` knows ``gone`` facts too: those that were taken from train.
    """
    evaluations: dict[str, Evaluation] = {
        filter: evaluate(predictor, graph, filter=filter) for filter in (filters if graph.parts else ("full",))
    }
    if gone is not None:
        evaluations["whole"] = evaluate(predictor, graph, also_known=gone)
    return {filter: {ties: _parts(found.with_ties(ties)) for ties in _TIES} for filter, found in evaluations.items()}


def _parts(evaluation: Evaluation) -> dict[str, Mapping[str, float]]:
    parts = {part: found["filtered"]["both"] for part, found in evaluation.parts.items()}
    return {part: _rounded(found) for part, found in (parts | {"test": evaluation.filtered["both"]}).items()}


def _rounded(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: round(metrics[name], 5) for name in ("hits@1", *METRICS)}
