"""A training pass over FB122 and the filtered ranking of its test facts, beside PyKEEN's, in one run.

Dimension 200, ten batches, one corrupted subject and one corrupted object for each fact. PyKEEN ranks a tenth of the
test facts, and its time is multiplied. Ratios are what to read: other programs slow both sides.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib.util import find_spec
from statistics import median
from typing import Any

import torch

from clausal import load_graph
from clausal.config import Settings
from clausal.evaluation import evaluate
from clausal.graph import Graph, dataset_clauses
from clausal.logic import read_clauses
from clausal.training.train import prepare

DIM, BATCHES = 200, 10
PASSES = 20
TARGETS = {"distmult": 8, "complex": 10}


def passes(graph: Graph, scorer: str, step: str, clauses: Any = (), **settings: Any) -> float:
    """Return the mean seconds of a pass, from the second epoch on."""
    sections = {
        "model": {"scorer": scorer, "dim": DIM, "domain": "cube"},
        "facts": {"batches": BATCHES},
        "train": {"epochs": PASSES // 10, "passes": 10, "step": step, "device": "cpu"},
        "evaluate": {"every": 0},
        "clauses": settings,
    }
    marks: list[float] = []
    training = prepare(graph, clauses, Settings.from_mapping(sections))
    training.run(on_pass=lambda _: marks.append(time.perf_counter()))
    return (marks[-1] - marks[9]) / (PASSES - 10)


def ranking(graph: Graph, scorer: str) -> float:
    """Return the seconds of a filtered ranking of test, both sides."""
    sections = {"model": {"scorer": scorer, "dim": DIM}, "train": {"epochs": 1, "passes": 1}, "evaluate": {"every": 0}}
    predictor = prepare(graph, (), Settings.from_mapping(sections)).run()
    return _median(lambda: evaluate(predictor, graph, split="test"))


def peer(graph: Graph, scorer: str) -> tuple[float, float]:
    """Return the seconds of PyKEEN's pass and of its ranking."""
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.models import ComplEx, DistMult
    from pykeen.training import SLCWATrainingLoop
    from pykeen.triples import CoreTriplesFactory

    train, valid, test = (torch.from_numpy(facts).long() for facts in graph.splits.values())
    factory = CoreTriplesFactory(train, num_entities=len(graph.entities), num_relations=len(graph.relations))
    kind, dim = (DistMult, DIM) if scorer == "distmult" else (ComplEx, DIM // 2)
    model = kind(triples_factory=factory, embedding_dim=dim, loss="pointwisehinge", random_seed=0)
    loop = SLCWATrainingLoop(
        model=model,
        triples_factory=factory,
        optimizer=torch.optim.Adagrad(model.get_grad_params(), lr=0.1, initial_accumulator_value=0.1),
        negative_sampler="basic",
        negative_sampler_kwargs={"num_negs_per_pos": 2},
    )
    quiet = {"use_tqdm": False, "use_tqdm_batch": False}
    size = -(-len(train) // BATCHES)

    def one_pass() -> None:
        loop.train(triples_factory=factory, num_epochs=1, batch_size=size, only_size_probing=False, **quiet)

    one_pass()
    some = test[::10]
    evaluator = RankBasedEvaluator(filtered=True)
    started = time.perf_counter()
    evaluator.evaluate(model, some, additional_filter_triples=[train, valid, test], batch_size=64, use_tqdm=False)
    return _median(one_pass), (time.perf_counter() - started) * len(test) / len(some)


def _median(work: Callable[[], Any], repeats: int = 3) -> float:
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return median(seconds)


def main() -> None:
    """Print the table."""
    if find_spec("pykeen") is None:
        raise SystemExit("PyKEEN is not installed; pip install pykeen, or make test, which installs it")
    print(f"{os.cpu_count()} cores, {torch.get_num_threads()} threads, load {os.getloadavg()[0]:.1f} before the start")
    graph = load_graph("fb122")
    path = dataset_clauses("fb122")
    assert path is not None
    clauses = read_clauses(path)
    for scorer, target in TARGETS.items():
        theirs, their_ranking = peer(graph, scorer)
        eager, fused = (passes(graph, scorer, step) for step in ("eager", "fused"))
        gradient = passes(graph, scorer, "fused", clauses, adversary="gradient", sets=100)
        closed = passes(graph, scorer, "fused", clauses, adversary="closed-form")
        ours = ranking(graph, scorer)
        print(
            f"{scorer}: a pass {fused:.3f} s fused, {eager:.3f} s eager, {theirs:.3f} s PyKEEN: "
            f"{theirs / fused:.1f} times as fast (target {target})"
        )
        print(f"  with 47 clauses by gradient ascent on 100 sets: {gradient / fused:.2f} of that (target 1.5)")
        print(f"  with 47 clauses in closed form: {closed / fused:.2f} of that (target 1.15)")
        faster = their_ranking / ours
        print(f"  ranking {ours:.2f} s, {their_ranking:.1f} s PyKEEN: {faster:.0f} times as fast (target 40)")


if __name__ == "__main__":
    main()
