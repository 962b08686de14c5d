"""What an index of vectors finds and takes: recall of the ten best answers, beside looking at all entities.

    python benchmarks/index.py [--entities 20000] [--latent 24] [--run RUN]

Questions are test facts of a run, or facts of a random ComplEx of dimension 200. Its vectors are linear in so many
``--latent`` numbers of each entity, with noise of a fifth: a model that has learnt something is like that. With
``--latent 0`` they are normal, and no vector is near to another: the worst case of an index. It needs the extra
``index``. CPU seconds are of one thread.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import clausal
from answers import random_run
from clausal import Run
from clausal.graph.query import Question
from common.memory import resident

QUESTIONS, K = 500, 10


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=20_000, help="of the random model; 0 for none")
    parser.add_argument(
        "--latent", type=int, default=24, help="numbers that say where an entity lies; 0: no two are alike"
    )
    parser.add_argument("--run", type=Path, action="append", default=[], help="a trained run to measure too")
    parser.add_argument("--threads", type=int, default=1, help="that build the index; questions have one")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.entities:
        run = random_run(options.entities, 100, 10 * options.entities)
        if options.latent:
            lay_out(run, options.latent)
        kind = f"of {options.latent} latent numbers" if options.latent else "normal"
        measure(f"{options.entities:,} random entities, {kind}", run, options.threads)
    for path in options.run:
        measure(str(path), clausal.load(path, device="cpu"), options.threads)


@torch.no_grad()
def lay_out(run: Run, latent: int) -> None:
    """Give the entities of a random run vectors that depend on a few numbers each."""
    vectors = run.predictor.encoder.weight
    assert isinstance(vectors, torch.Tensor)
    directions = torch.randn(latent, vectors.shape[1]) / latent**0.5
    for rows in vectors.split(1 << 16):
        rows.mul_(0.2).addmm_(torch.randn(len(rows), latent), directions)


def measure(what: str, run: Run, threads: int) -> None:
    """Print what an index of a run takes and finds."""
    print(f"{what}, {type(run.predictor.scorer).__name__} of dimension {run.predictor.scorer.dim}", flush=True)
    asked = questions(run)
    exact, all_seconds = _timed(lambda: run.predict(asked, K))
    before = resident()
    torch.set_num_threads(threads)
    started = time.perf_counter()
    index, building = _timed(run.build_index)
    by_clock = time.perf_counter() - started
    torch.set_num_threads(1)
    print(f"  build: {building:.1f} s of CPU time, {by_clock:.1f} s by the clock with {threads} threads", flush=True)
    print(f"  memory: {resident() - before:.0f} MB", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        from clausal.run.indexing import write_index

        write_index(Path(folder) / "index", index)
        print(f"  file: {(Path(folder) / 'index').stat().st_size / 1e6:.0f} MB")
    indexed = run.with_index(index)
    found, seconds = _timed(lambda: indexed.predict(asked, K))
    recall = np.mean([len(names(one) & names(other)) / K for one, other in zip(found, exact, strict=True)])
    first = np.mean([one[0].score == other[0].score for one, other in zip(found, exact, strict=True)])
    _, one_by_one = _timed(lambda: [indexed.predict(question, K) for question in asked[:50]])
    _, all_one_by_one = _timed(lambda: [run.predict(question, K) for question in asked[:50]])
    print(f"  {QUESTIONS} questions together: {seconds:.2f} s, among all {all_seconds:.2f} s")
    print(f"  one question: {20 * one_by_one:.2f} ms, among all {20 * all_one_by_one:.2f} ms")
    print(f"  recall of the {K} best answers: {recall:.3f}; the best is found in {first:.1%}", flush=True)


def questions(run: Run) -> list[Question]:
    """Return questions for both sides of test facts, or of train facts where there are none."""
    graph = run.graph
    facts = graph.test if len(graph.test) else graph.train
    rows = facts[np.random.default_rng(0).choice(len(facts), QUESTIONS // 2, replace=False)].tolist()
    objects = [(graph.entities[s], graph.relations[r], None) for s, r, _ in rows]
    return [*objects, *((None, graph.relations[r], graph.entities[o]) for _, r, o in rows)]


def names(answers: Any) -> set[tuple[str, str]]:
    """Return what was found."""
    return {(one.subject, one.object) for one in answers}


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    return work(), time.process_time() - started


if __name__ == "__main__":
    main()
