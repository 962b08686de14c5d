"""Searching a grid: each point that the journal does not have is trained, in one process or in several."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from clausal.errors import InputError, RunError
from clausal.graph.graph import Graph
from clausal.logic import Clause
from clausal_paper.grid.axes import Axes, Point, assignments, axes_of, points
from clausal_paper.grid.journal import Entry, Journal
from clausal_paper.provenance import hardware
from clausal_paper.tables.methods import settings_of, train_row
from clausal_paper.tables.rows import Row

Work = tuple[Row, Point, int]


def search(
    rows: Sequence[Row],
    graph: Graph,
    clauses: Sequence[Clause],
    journal: Journal,
    *,
    axes: Axes | None = None,
    seeds: Sequence[int] = (0,),
    changes: Sequence[str] = (),
    processes: int = 1,
    progress: Callable[[int, int, Entry | None], None] | None = None,
) -> list[Entry]:
    """Train what the journal lacks of the rows' grids, and return all entries of these grids.

    ``axes`` replace some of the paper's axes, ``changes`` apply to every training. Test is never looked at.
    ``processes`` share the work, and the GPU if there is one. ``progress`` is told how many are done, of how many,
    and the last.
    """
    wanted = [(row, point, seed) for row in rows for point in points(axes_of(row, axes)) for seed in seeds]
    done = {_key(entry): entry for entry in journal.read()}
    missing = [work for work in wanted if _key_of(work, changes) not in done]
    finished = len(wanted) - len(missing)
    if progress:
        progress(finished, len(wanted), None)
    for entry in _train_all(missing, graph, clauses, changes, processes):
        journal.append(entry)
        done[_key(entry)] = entry
        finished += 1
        if progress:
            progress(finished, len(wanted), entry)
    return [done[_key_of(work, changes)] for work in wanted]


def train_point(work: Work, graph: Graph, clauses: Sequence[Clause], changes: Sequence[str] = ()) -> Entry:
    """Train a row at one point of its grid, and return what it reached on valid; a divergence is an entry too."""
    row, point, seed = work
    entry: Entry = {"table": row.table, "row": row.name, "point": point, "changes": list(changes), "seed": seed}
    settings = settings_of(row, seed, [*changes, *assignments(point)])
    started = time.perf_counter()
    try:
        trained = train_row(row, row.graph(graph, clauses, seed), clauses, settings)
    except RunError as error:
        return entry | {"error": str(error)}
    if trained.valid_mrr is None:
        raise InputError("a grid search needs valid facts and evaluate.every above 0: it selects by MRR on valid")
    return entry | {
        "valid_mrr": round(trained.valid_mrr, 5),
        "best_epoch": trained.best_epoch,
        "seconds": round(time.perf_counter() - started, 2),
        "hardware": hardware(),
    }


def _key(entry: Entry) -> str:
    return json.dumps([entry[name] for name in ("table", "row", "point", "changes", "seed")], sort_keys=True)


def _key_of(work: Work, changes: Sequence[str]) -> str:
    row, point, seed = work
    return _key({"table": row.table, "row": row.name, "point": point, "changes": list(changes), "seed": seed})


def _train_all(
    work: Sequence[Work], graph: Graph, clauses: Sequence[Clause], changes: Sequence[str], processes: int
) -> Iterator[Entry]:
    if processes == 1:
        yield from (train_point(one, graph, clauses, changes) for one in work)
        return
    # CUDA cannot be used in a fork. The graph goes to each process once.
    pool = ProcessPoolExecutor(processes, get_context("spawn"), initializer=_begin, initargs=(graph, clauses, changes))
    with pool:
        try:
            for future in as_completed([pool.submit(_work, one) for one in work]):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


_given: tuple[Graph, Sequence[Clause], Sequence[str]]


def _begin(graph: Graph, clauses: Sequence[Clause], changes: Sequence[str]) -> None:
    global _given
    _given = (graph, clauses, changes)


def _work(work: Work) -> Entry:
    return train_point(work, *_given)
