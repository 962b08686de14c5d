"""How strong the adversaries are: the share of the largest violation that ascents reach, which closed forms know.

    python benchmarks/ascent.py [--dim 200] [--clauses 20] [--sets 10] [--zeros 0] [--device cpu] [--out FILE]

For clauses p(X, Y) => q(X, Y) with random relations, entities all over the domain, and each way to climb after 1, 10
and 100 steps: the share that the best of a clause's sets reaches, and that its sets reach on average. One search of 10
steps is timed too, next to AdaGrad's. With ``--zeros 0.67`` two thirds of the numbers of entities on the cube are 0, as
training leaves many of them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, get_args

import torch
from torch import Tensor

from clausal.adversary import SEMANTICS, ClauseGroup, ClosedForm, GradientAscent, group_clauses
from clausal.choices import AscentName
from clausal.graph import Names
from clausal.logic import parse_clause
from clausal.model import SCORERS, Cube, Domain, LinkPredictor, Sphere, Table
from common.machine import describe_machine, in_words
from common.processes import store

ROOT = Path(__file__).parent.parent
_STEPS = (1, 10, 100)
_ENTITIES = 1_000
_ROUNDS = 10


def main() -> None:
    """Measure all, print the table and store it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dim", type=int, default=200)
    parser.add_argument("--clauses", type=int, default=20)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--zeros", type=float, default=0.0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=ROOT / "results/benchmarks/ascent.json")
    options = parser.parse_args()
    machine, rows = describe_machine(), []
    print(in_words(machine), flush=True)
    print("| domain | scorer | climbs by | 1 step | 10 steps | 100 steps | time of 10 |\n|---|---|---|---|---|---|---|")
    for domain in (Cube(), Sphere()):
        for scorer in ("distmult", "complex"):
            predictor, groups = random_model(scorer, domain, options)
            usual = seconds(predictor, groups, options, "adagrad")
            for optimizer in get_args(AscentName):
                shares = {steps: reached(predictor, groups, options, optimizer, steps) for steps in _STEPS}
                time_of_10 = seconds(predictor, groups, options, optimizer) / usual
                row = {"domain": domain.name, "scorer": scorer, "optimizer": optimizer, "time": round(time_of_10, 2)}
                rows.append(row | {"reached": {str(steps): share for steps, share in shares.items()}})
                cells = " | ".join(f"{best:.2f} ({mean:.2f})" for best, mean in shares.values())
                print(f"| {domain.name} | {scorer} | {optimizer} | {cells} | {time_of_10:.1f} |", flush=True)
    settings = {name: value for name, value in vars(options).items() if name != "out"}
    store(options.out, {"machine": machine, "settings": settings, "rows": rows})


def random_model(scorer: str, domain: Domain, options: argparse.Namespace) -> tuple[LinkPredictor, list[ClauseGroup]]:
    """Return a model with normal relations and entities all over its domain, and clauses between its relations."""
    names = Names([f"r{i}" for i in range(2 * options.clauses)], "relation")
    sizes = {"num_entities": _ENTITIES, "num_relations": len(names), "domain": domain}
    table = Table(_ENTITIES, options.dim)
    predictor = LinkPredictor(table, SCORERS[scorer](options.dim), **sizes)
    generator = torch.Generator().manual_seed(0)
    table.weight.data = domain.sample(table.weight.shape, generator)
    if isinstance(domain, Cube):
        table.weight.data[torch.rand(table.weight.shape, generator=generator) < options.zeros] = 0
    predictor.relations.data.normal_(generator=generator)
    clauses = [parse_clause(f"r{2 * i}(X, Y) => r{2 * i + 1}(X, Y)") for i in range(options.clauses)]
    predictor = predictor.to(options.device)
    groups = group_clauses(clauses, Names(["e"], "entity"), names)
    return predictor, [group.to(predictor.device) for group in groups]


def reached(
    predictor: LinkPredictor,
    groups: list[ClauseGroup],
    options: argparse.Namespace,
    optimizer: AscentName,
    steps: int,
) -> tuple[float, float]:
    """Return the share of the largest violation that the best set of a clause reaches, and its sets on average."""
    (found,) = _find(predictor, groups, options, optimizer, steps)
    closed_form = ClosedForm()
    largest = closed_form.inconsistency(predictor, groups, closed_form.find(predictor, groups))
    share: Tensor = groups[0].violation(predictor, SEMANTICS["godel"](), found.vectors) / largest[:, None]
    return round(share.amax(1).mean().item(), 4), round(share.mean().item(), 4)


def seconds(
    predictor: LinkPredictor, groups: list[ClauseGroup], options: argparse.Namespace, optimizer: AscentName
) -> float:
    """Return the time of a search of ten steps, the least of some rounds after one to warm up."""
    times = []
    for _ in range(_ROUNDS + 1):
        started = time.perf_counter()
        for one in _find(predictor, groups, options, optimizer, 10):
            one.vectors.sum().item()
        times.append(time.perf_counter() - started)
    return min(times[1:])


def _find(
    predictor: LinkPredictor, groups: list[ClauseGroup], options: argparse.Namespace, optimizer: Any, steps: int
) -> list[Any]:
    ascent = GradientAscent(options.sets, steps, optimizer=optimizer)
    return list(ascent.find(predictor, groups, torch.Generator(options.device).manual_seed(0)))


if __name__ == "__main__":
    main()
