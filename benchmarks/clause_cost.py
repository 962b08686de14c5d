"""What clauses cost by the number of entities, for both adversaries, as a table and a figure.

    python benchmarks/clause_cost.py [--most 5000000] [--device cpu] [--out FILE] [--figure FILE]

A model of DistMult on the cube, dimension 100, with 1,000 to 5 million entities and random clauses of the five shapes
of the paper. Measured is what clauses add to an epoch of 100 steps: one search of the adversary, and their loss with
its gradient 100 times; beside it, for the same model, 100 steps on 1,000 facts without clauses. The least of some
rounds, on a CPU of processor time by one thread.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from clausal.adversary import make_adversary, make_groups
from clausal.config import Settings
from clausal.fast import FormChoice, fastest
from clausal.graph import Graph, Names
from clausal.logic import parse_clauses
from clausal.model import Cube, DistMult, LinkPredictor, Table
from clausal.training import AdversarialSetTraining
from clausal.training.clauses import ClauseLoss
from common.machine import describe_machine, in_words
from common.processes import store

ROOT = Path(__file__).parent.parent
_SIZES = (1_000, 10_000, 100_000, 1_000_000, 5_000_000)
_CLAUSES = (100, 1_000)
_ADVERSARIES = ("gradient", "closed-form")
_RELATIONS, _DIM, _FACTS, _STEPS, _ROUNDS = 200, 100, 1_000, 100, 5
_SHAPES = (
    "{0}(X, Y) => {1}(X, Y)",
    "{0}(X, Y) => {1}(Y, X)",
    "{0}(X, Y) => {0}(Y, X)",
    "{0}(X, Y), {0}(Y, Z) => {0}(X, Z)",
    "{0}(X, Y), {1}(Y, Z) => {2}(X, Z)",
)


def main() -> None:
    """Measure every size, print the table, and store and draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=_SIZES[-1], help="leave out models of more entities")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=ROOT / "results/benchmarks/clause-cost.json")
    parser.add_argument("--figure", type=Path, default=ROOT / "docs/figures/clause-cost.png")
    options = parser.parse_args()
    torch.set_num_threads(1)
    machine, rows = describe_machine(), []
    print(in_words(machine), flush=True)
    names = [f"{count:,} {adversary}" for count in _CLAUSES for adversary in _ADVERSARIES]
    print(f"| entities | no clauses | {' | '.join(names)} |\n|{'---|' * (len(names) + 2)}")
    for size in (size for size in _SIZES if size <= options.most):
        row: dict[str, Any] = {"entities": size} | measured(size, options.device)
        rows.append(row)
        cells = " | ".join(f"{1e3 * row[name]:.1f} ms" for name in ("none", *names))
        print(f"| {size:,} | {cells} |", flush=True)
    store(options.out, {"machine": machine, "device": options.device, "rows": rows})
    draw(rows, names, options.figure)


def measured(entities: int, device: str) -> dict[str, float]:
    """Return the seconds of an epoch's steps without clauses, and what clauses of each number and kind add to it."""
    relations = Names([f"r{i}" for i in range(_RELATIONS)], "relation")
    rng = np.random.default_rng(0)
    columns = [rng.integers(limit, size=_FACTS) for limit in (entities, _RELATIONS, entities)]
    graph = Graph(_Numbered(entities), relations, np.stack(columns, 1).astype(np.int32))
    sizes = {"num_entities": entities, "num_relations": _RELATIONS, "domain": Cube()}
    predictor = LinkPredictor(Table(entities, _DIM), DistMult(_DIM), **sizes).to(device)
    with torch.no_grad():
        predictor.project_()
    found = {"none": _seconds(_steps(predictor, graph, device), device)}
    for count in _CLAUSES:
        clauses = parse_clauses("\n".join(_random_clauses(count)))
        groups = make_groups(clauses, Names(["e"], "entity"), relations, predictor)
        for kind in _ADVERSARIES:
            adversary = make_adversary(_settings(kind).clauses, torch.from_numpy(graph.train).to(device))
            with FormChoice().in_use():
                loss = fastest(ClauseLoss, adversary, predictor, groups)(adversary, predictor, groups)
                work = _epoch(adversary, predictor, groups, loss)
                found[f"{count:,} {kind}"] = _seconds(work, device)
    return found


class _Numbered(Names):
    """As many names as there are entities, made only when they are asked for."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        return f"e{number}"


def _steps(predictor: LinkPredictor, graph: Graph, device: str) -> Callable[[], object]:
    """Return what takes 100 steps on facts, without clauses."""
    settings = _settings("none")
    train = torch.from_numpy(graph.train)
    training = AdversarialSetTraining(predictor, train, [], make_adversary(settings.clauses, train), settings)
    facts, generator = training.objective.facts.long(), torch.Generator(device).manual_seed(0)
    return lambda: [training.step(facts, generator) for _ in range(_STEPS)]


def _epoch(adversary: Any, predictor: LinkPredictor, groups: Any, loss: Any) -> Callable[[], object]:
    """Return what searches once, and takes the loss and its gradient 100 times."""
    generator = torch.Generator(predictor.device).manual_seed(0)
    slopes = torch.ones(sum(map(len, groups)), device=predictor.device)
    into = torch.zeros_like(predictor.relations)

    def work() -> None:
        loss.adopt(adversary.find(predictor, groups, generator))
        for _ in range(_STEPS):
            if loss.add_gradient(slopes, into) is None:
                torch.autograd.grad(loss().sum(), predictor.relations)

    return work


def _seconds(work: Callable[[], object], device: str) -> float:
    """Return the time of some work, the least of some rounds after one to warm up."""
    clock, times = time.process_time if device == "cpu" else time.perf_counter, []
    for _ in range(_ROUNDS + 1):
        started = clock()
        work()
        if device != "cpu":
            torch.cuda.synchronize()
        times.append(clock() - started)
    return min(times[1:])


def _settings(adversary: str) -> Settings:
    model = {"scorer": "distmult", "dim": _DIM, "domain": "cube"}
    return Settings.from_mapping({"model": model, "clauses": {"adversary": adversary}, "evaluate": {"every": 0}})


def _random_clauses(count: int) -> list[str]:
    rng, names = random.Random(0), [f"r{i}" for i in range(_RELATIONS)]
    return [_SHAPES[i % len(_SHAPES)].format(*rng.sample(names, 3)) for i in range(count)]


def draw(rows: list[dict[str, Any]], names: list[str], path: Path) -> None:
    """Draw seconds by entities, both on a logarithmic scale."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for name in ("none", *names):
        label = "100 steps on facts" if name == "none" else f"{name.replace(' ', ' clauses, ', 1)}"
        axes.loglog([row["entities"] for row in rows], [row[name] for row in rows], marker="o", label=label)
    axes.set(xlabel="entities", ylabel="seconds of an epoch of 100 steps", title="What clauses add, by entities")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
