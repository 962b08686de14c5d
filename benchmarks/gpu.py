"""The fused step on a GPU: the paper's FB122 training, and how near its kernels come to the memory's bandwidth.

    python benchmarks/gpu.py [--passes 1000] [--out FILE]

Without a GPU it says so and measures nothing. Nothing but torch, triton and the package is needed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from clausal.config import Settings
from clausal.graph import Graph, dataset_clauses, load_graph
from clausal.logic import Clause, one_atom_rule, read_clauses, shape_of
from clausal.observer import Calling
from clausal.training.prepare import prepare
from common.machine import describe_machine, in_words
from common.processes import store

ROOT = Path(__file__).parent.parent
WARM = 30
"""Passes before the clock starts: kernels are compiled, and graphs recorded."""
TARGETS = {
    ("distmult", "none"): 2.0,
    ("complex", "none"): 3.0,
    ("distmult", "gradient"): 5.0,
    ("complex", "gradient"): 5.0,
}
"""The most seconds of 1,000 passes, by scorer and adversary."""


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passes", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=ROOT / "results/benchmarks/gpu.json")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("no GPU here: nothing to measure")
        return
    machine = describe_machine() | {"gpu": torch.cuda.get_device_name()}
    print(in_words(machine), machine["gpu"], sep="; ", flush=True)
    graph, clauses = load_graph("fb122"), read_clauses(dataset_clauses("fb122"))
    trainings = list(_trainings(graph, clauses, options.passes))
    bandwidth = _copy_bandwidth()
    print(f"copying 1 GiB: {bandwidth / 1e12:.2f} TB/s")
    kernels = list(_kernels(graph, bandwidth))
    found = {"machine": machine, "trainings": trainings, "copy_bandwidth": bandwidth, "kernels": kernels}
    store(options.out, found)


def settings_of(scorer: str, adversary: str, passes: int, domain: str = "cube") -> Settings:
    """Return the settings of the paper's FB122 training, without validation."""
    return Settings.from_mapping(
        {
            "model": {"scorer": scorer, "dim": 200, "domain": domain},
            "clauses": {"adversary": adversary, "sets": 100},
            "train": {"epochs": -(-passes // 10), "passes": 10, "device": "auto"},
            "evaluate": {"every": 0},
        }
    )


def _trainings(graph: Graph, clauses: Sequence[Clause], passes: int) -> Iterator[dict[str, Any]]:
    one_atom = [clause for clause in clauses if one_atom_rule(shape_of(clause)[0])]
    closed = [("closed-form", one_atom), ("closed-form", clauses)]
    for domain, scorers in (("cube", ("distmult", "complex")), ("sphere", ("complex",))):
        # On the sphere two atoms in a body have a bound whose λ and μ take Newton's method in every epoch.
        for adversary, given in (("none", ()), *closed[: 2 if domain == "cube" else 1], ("gradient", clauses)):
            for scorer in scorers:
                marks: list[float] = []
                training = prepare(graph, given, settings_of(scorer, adversary, passes + WARM, domain))
                training.run(Calling(passed=lambda _, marks=marks: marks.append(time.perf_counter())))
                row = {"domain": domain, "scorer": scorer, "adversary": adversary, "clauses": len(given)}
                seconds, target = marks[WARM + passes - 1] - marks[WARM - 1], TARGETS.get((scorer, adversary))
                row |= {"passes": passes, "seconds": seconds, "target": target if domain == "cube" else None}
                print(
                    "{domain:6} {scorer:9} {adversary:12} {clauses:3} clauses: {seconds:.2f} s, target {target}".format(
                        **row
                    ),
                    flush=True,
                )
                yield row


def _kernels(graph: Graph, bandwidth: float) -> Iterator[dict[str, Any]]:
    """Time the kernels of a step one by one: bytes that they read and write, and the share of the bandwidth."""
    from clausal.fast.cuda.step import descend_
    from clausal.model.domains import Projection

    def row(kernel: str, seconds: float, moved: int) -> dict[str, Any]:
        found = {"kernel": kernel, "bytes": moved, "seconds": seconds, "share": moved / seconds / bandwidth}
        print("{kernel:34} {bytes:14,} B {seconds:.2e} s {share:5.2f} of the bandwidth".format(**found), flush=True)
        return found

    for scorer in ("distmult", "complex", "simple", "cp"):
        training = prepare(graph, (), settings_of(scorer, "none", 10))
        training.run()
        objective, kernels = training.objective, training.step.kernels  # type: ignore[attr-defined]
        facts = objective.facts[: objective.batch_size].long()
        negatives = objective.corruption.draw(facts, torch.Generator("cuda"))
        entities, relations = kernels.model.entities.detach(), kernels.model.relations.detach()
        # Four entities and a relation are read, and their gradients read and written; ids and the loss.
        numbers = 3 * (4 * entities.shape[1] + relations.shape[1]) + 1
        seconds = _seconds(lambda k=kernels, f=facts, n=negatives: k.add_fact_gradients(f, *n))
        yield row(f"gradient of facts, {scorer}", seconds, len(facts) * (4 * numbers + 5 * 8))
        for name, table, gradient in (
            ("entities", entities, kernels.entity_gradient),
            ("relations", relations, kernels.relation_gradient),
        ):
            sums = torch.full_like(table, 0.1)
            seconds = _seconds(lambda t=table, s=sums, g=gradient: descend_(t, s, g, 0.1))
            yield row(f"AdaGrad, {name}, {scorer}", seconds, 6 * 4 * table.numel())
    table, sums, gradient = (torch.full((5_000_000, 200), value, device="cuda") for value in (0.0, 0.1, 0.0))
    for onto in (Projection("clip", 0.0, 1.0), Projection("sphere")):
        seconds = _seconds(lambda onto=onto: descend_(table, sums, gradient, 0.1, onto), launches=5)
        yield row(f"AdaGrad, 5 million rows, {onto.kind}", seconds, 6 * 4 * table.numel())


def _copy_bandwidth() -> float:
    """Return the bytes per second that a copy of 1 GiB reads and writes."""
    source = torch.empty(1 << 28, device="cuda")
    target = torch.empty_like(source)
    return 2 * 4 * source.numel() / _seconds(lambda: target.copy_(source), launches=20)


def _seconds(work: Callable[[], Any], launches: int = 200) -> float:
    """Return the seconds of one launch, of many in a graph, so that Python takes no part in them."""
    for _ in range(10):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            work()
    graph.replay()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / launches / 1e3


if __name__ == "__main__":
    main()
