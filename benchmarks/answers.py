"""What answers and scores cost: many questions, many facts, and a million entities.

    python benchmarks/answers.py [--entities 1000000] [--streamed 10000000]

The models have random vectors: what a question takes does not depend on how good they are. Each figure is the median of
several, printed next to its target.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch

from clausal import Graph, Run, Settings
from clausal.evaluation.calibration import Calibration, Fit
from clausal.graph import Names
from clausal.model import SCORERS, LinkPredictor, Table
from clausal.run.score_files import write_scores
from common.memory import forget_peak, peak, resident

DIM = 200


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=1_000_000)
    parser.add_argument("--streamed", type=int, default=10_000_000)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the start")
    run = random_run(9_738, 122, 91_638)
    names = _triples(run, 100_000)
    _print("score 100,000 facts by name, FB122's size", _median(lambda: run.score(names)), 0.2)
    ids = run.score(names).facts
    _print("the same by id", _median(lambda: run.score(ids)), 0.2)
    _questions(run)
    if options.streamed:
        _stream(run, options.streamed)
    if options.entities:
        _large(options.entities)


def random_run(entities: int, relations: int, facts: int) -> Run:
    """Return a calibrated run with a random ComplEx of dimension 200 on random facts."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(size, size=facts) for size in (entities, relations, entities)]
    graph = Graph(
        Names([f"entity {number}" for number in range(entities)], "entity"),
        Names([f"relation {number}" for number in range(relations)], "relation"),
        np.stack(columns, 1).astype(np.int32),
    )
    predictor = LinkPredictor(
        Table(entities, DIM), SCORERS["complex"](DIM), num_entities=entities, num_relations=relations
    )
    torch.nn.init.normal_(predictor.encoder.weight)
    torch.nn.init.normal_(predictor.relations)
    calibration = Calibration(Fit(0.1, 0.0, 0.0, 20), {})
    return Run(predictor.eval(), graph, (), Settings(), calibration=calibration)


def _triples(run: Run, count: int) -> list[tuple[str, str, str]]:
    rng = np.random.default_rng(1)
    entities, relations = run.graph.entities, run.graph.relations
    subjects, objects = rng.integers(len(entities), size=(2, count)).tolist()
    chosen = rng.integers(len(relations), size=count).tolist()
    return [(entities[s], relations[r], entities[o]) for s, r, o in zip(subjects, chosen, objects, strict=True)]


def _asked(run: Run, count: int) -> list[tuple[str | None, str | None, str | None]]:
    """Return questions for objects and for subjects in turn."""
    return [
        (subject, relation, None) if place % 2 else (None, relation, object)
        for place, (subject, relation, object) in enumerate(_triples(run, count))
    ]


def _questions(run: Run) -> None:
    asked = _asked(run, 512)
    run.predict(asked[0])  # indexes the facts
    alone = _median(lambda: [run.predict(one) for one in asked[:64]]) / 64
    _print("one question, k = 10, with status and probability", alone)
    for size in (16, 64, 512):
        _print(f"each of {size} together", _median(lambda size=size: run.predict(asked[:size])) / size)  # type: ignore[misc]


def _stream(run: Run, count: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        path, piece = Path(folder) / "candidates.parquet", 100_000
        fields = ("subject", "relation", "object")
        table = pa.table(dict(zip(fields, map(list, zip(*_triples(run, piece), strict=True)), strict=True)))
        with pq.ParquetWriter(path, table.schema) as writer:
            for _ in range(count // piece):
                writer.write_table(table)
        forget_peak()
        before, started = resident(), time.perf_counter()
        written = write_scores(Path(folder) / "scores.parquet", run.score_file(path))
        seconds = time.perf_counter() - started
    print(f"score {written:,} facts of a file into another: {seconds:.1f} s, {peak() - before:.0f} MB beyond the model")


def _large(entities: int) -> None:
    run = random_run(entities, 100, 5 * entities)
    asked = _asked(run, 128)
    started = time.perf_counter()
    run.predict(asked[0])
    seconds = time.perf_counter() - started
    print(f"first question among {entities:,} entities, with indexing {5 * entities:,} facts: {seconds:.2f} s")
    singles = [_median(lambda one=one: run.predict(one, new=True), 1) for one in asked[:9]]  # type: ignore[misc]
    _print(f"one question among {entities:,} entities, dimension {DIM}", median(singles), 0.2)
    for size in (64, 128):
        each = _median(lambda size=size: run.predict(asked[:size], new=True), 3) / size  # type: ignore[misc]
        _print(f"each of {size} together", each, 0.025)


def _median(work: Callable[[], object], times: int = 5) -> float:
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return median(seconds)


def _print(what: str, seconds: float, target: float | None = None) -> None:
    verdict = "" if target is None else f", target {target * 1000:g} ms: {'met' if seconds <= target else 'missed'}"
    print(f"{what}: {seconds * 1000:.2f} ms{verdict}")


if __name__ == "__main__":
    main()
