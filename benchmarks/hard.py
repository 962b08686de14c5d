"""What hard clauses cost and bring: the share of a pass that the projection takes, and FB122 with 38 of them.

    python benchmarks/hard.py [--passes 200] [--against-all] [--device cpu] [--rounds 5] [--out FILE]

The cost is that of all projections of a pass, next to the same pass: for the 38 one-atom clauses of FB122, and for
1,000 random ones over 1,500 relations, that FB122's relations are cut into, of one atom and of two. The accuracy is
filtered MRR of cASR-ComplEx on the cube (dim 200), or of ComplEx against all entities on the cone (dim 1,000, for a
GPU), once with soft clauses and once with hard ones, over as many passes; nothing is chosen on test.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clausal import Settings, train
from clausal.graph import Graph, dataset_clauses, load_graph
from clausal.logic import Clause, parse_clauses, read_clauses
from clausal.model.predictor import Feasible, LinkPredictor
from clausal.training import prepare
from common.machine import describe_machine, in_words
from common.processes import store

ROOT = Path(__file__).parent.parent
_TARGETS: dict[str, float | None] = {"38": 0.10, "1,000": 0.30, "1,000 of two atoms": None}
_SHAPES = ("{}(X, Y) => {}(X, Y)", "{}(X, Y) => {}(Y, X)")
_OF_TWO = ("{}(X, Y), {}(X, Y) => {}(X, Y)", "{}(X, Y), {}(Y, X) => {}(X, Y)")
_CUBE = {
    "model": {"scorer": "complex", "dim": 200, "domain": "cube"},
    "clauses": {"adversary": "closed-form"},
}
_CONE = {
    "model": {"scorer": "complex", "dim": 1000, "domain": "cone", "initial_scale": 0.1, "reciprocal": True},
    "facts": {
        "training": "1-vs-all",
        "loss": "softmax",
        "regulariser": "n3",
        "regulariser_weight": 0.005,
        "batch_size": 1000,
    },
    "clauses": {"adversary": "closed-form"},
}


def main() -> None:
    """Measure both, print them and store them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passes", type=int, default=200, help="of the two trainings; 0 for the cost alone")
    parser.add_argument("--against-all", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=ROOT / "results/benchmarks/hard.json")
    options = parser.parse_args()
    machine = describe_machine()
    print(in_words(machine), flush=True)
    graph = load_graph("fb122")
    path = dataset_clauses("fb122", simple=True)
    assert path is not None
    clauses = read_clauses(path)
    costs = {
        "38": cost(graph, clauses, options.device, options.rounds),
        "1,000": cost(*many_relations(graph, 1_500, 1_000, _SHAPES), options.device, options.rounds),
        "1,000 of two atoms": cost(*many_relations(graph, 1_500, 1_000, _OF_TWO), options.device, options.rounds),
    }
    for name, share in costs.items():
        wanted = _TARGETS[name]
        target = "" if wanted is None else f" (target {100 * wanted:g} %)"
        print(f"hard clauses, {name}: {100 * share:.1f} % of a pass{target}", flush=True)
    epochs = options.passes // 10
    base = _CONE if options.against_all else _CUBE
    runs = {
        name: accuracy(graph, clauses, base, wanted, epochs, options)
        for name, wanted in (("soft", "none"), ("hard", "all"))
        if epochs
    }
    store(options.out, {"machine": machine, "costs": costs, "passes": 10 * epochs, "settings": base, "runs": runs})


def cost(graph: Graph, clauses: Sequence[Clause], device: str, rounds: int) -> float:
    """Return the time of the projections of a pass as a share of the pass, the least of some rounds of each."""
    settings = Settings.from_mapping(
        {**_CUBE, "clauses": {**_CUBE["clauses"], "hard": "all"}, "train": {"device": device}, "evaluate": {"every": 0}}
    )
    training = prepare(graph, clauses, settings)
    assert training.predictor.feasible is not None
    timed = training.predictor.feasible = Timed(training.predictor.feasible)
    training.objective.clauses.adopt(training.find_adversarial_set())
    passes, projections = [], []
    for _ in range(rounds + 1):
        timed.seconds, started = 0.0, time.perf_counter()
        training._pass()
        passes.append(time.perf_counter() - started)
        projections.append(timed.seconds)
    return min(projections) / min(passes)


class Timed:
    """Adds up the time that projections onto a set take."""

    def __init__(self, feasible: Feasible) -> None:
        self.feasible = feasible
        self.metric = feasible.metric
        self.seconds = 0.0

    def project_(self, predictor: LinkPredictor) -> None:
        """Project as the set does."""
        started = time.perf_counter()
        self.feasible.project_(predictor)
        self.seconds += time.perf_counter() - started


def many_relations(graph: Graph, relations: int, count: int, shapes: Sequence[str]) -> tuple[Graph, list[Clause]]:
    """Cut the relations of a graph into more at random, and return clauses among them without cycles."""
    generator = random.Random(0)
    facts = [
        (graph.entities[int(s)], f"r{generator.randrange(relations)}", graph.entities[int(o)])
        for s, _, o in graph.train[np.random.default_rng(0).permutation(len(graph.train))]
    ]
    cut = Graph.from_triples(facts)
    names, found = sorted(cut.relations), dict[str, None]()
    while len(found) < count:
        atoms = sorted(generator.sample(range(len(names)), shapes[0].count("{}")))
        found[generator.choice(shapes).format(*(names[atom] for atom in atoms))] = None
    return cut, parse_clauses("\n".join(found))


def accuracy(
    graph: Graph, clauses: Sequence[Clause], base: dict[str, Any], hard: str, epochs: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Train, and return filtered MRR on all of test and its parts, and what certificates say."""
    given = {
        "train": {"epochs": epochs, "device": options.device, "seed": options.seed},
        "evaluate": {"every": max(1, epochs // 4), "patience": 0},
    }
    settings = Settings.from_mapping(base | given | {"clauses": {**base["clauses"], "hard": hard}})
    started = time.perf_counter()
    run = train(graph, clauses, settings)
    seconds = time.perf_counter() - started
    ranked = run.evaluate("test").to_dict()
    parts = {"all": ranked, **ranked["parts"]}
    mrr = {name: part["filtered"]["both"]["mrr"] for name, part in parts.items()}
    certified = run.certify(tolerance=0)
    bounds = [one.bound for one in certified.clauses if one.bound is not None]
    found = {"mrr": mrr, "verdicts": certified.verdicts, "bounds": sum(bounds), "seconds": round(seconds, 1)}
    kind = "hard" if hard == "all" else "soft"
    shown = ", ".join(f"{name} {value:.3f}" for name, value in mrr.items())
    holding = certified.verdicts.get("holds for all", 0)
    print(
        f"{kind}: MRR {shown}; {holding} of {len(clauses)} hold for all; bounds add up to {sum(bounds):.3g}", flush=True
    )
    return found


if __name__ == "__main__":
    main()
