"""What the first adversarial sets change: ours, unsearched entities, and the authors' unsearched Xavier vectors.

    python benchmarks/first_sets.py [--dim 50] [--epochs 30] [--seeds 3] [--sets NAME …] [--out FILE]

ASR-ComplEx on FB122, from its preset but for dimension and epochs. Here the adversary moves first, from vectors of
entities. In the authors' code the discriminator trains its first epoch on sets that nobody searched: Xavier vectors,
which are not projected onto the cube. From the second epoch on all are the same: vectors of entities, searched.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import torch

from clausal.adversary import ClauseGroup, RealEntities, Vectors
from clausal.config import Settings
from clausal.evaluation import evaluate
from clausal.graph import Graph, dataset_clauses, load_graph
from clausal.logic import Clause, read_clauses
from clausal.model import LinkPredictor, xavier_
from clausal.training import prepare
from common.machine import describe_machine, in_words
from common.processes import store

ROOT = Path(__file__).parent.parent
_PRESET = "fb122-asr-complex"
_PARTS = ("test-I", "test-II", "test")
_SETS = ("entities, searched", "entities, not searched", "Xavier, not searched")


class XavierSets(RealEntities):
    """Sets that are drawn by Xavier's rule over the B sets of a variable, and not projected."""

    @torch.no_grad()
    def find(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> list[Vectors]:
        """Draw a matrix [sets, dim] for each variable of each clause."""
        found = super().find(predictor, groups, generator)  # [clauses, sets, variables, dim]
        for one in found:
            for clause in one.vectors:
                for variable in range(clause.shape[1]):
                    xavier_(clause[:, variable], generator)
        return found


def main() -> None:
    """Train each variant by each seed, print the table, and store it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dim", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="+", choices=_SETS, default=_SETS, help="only these first sets")
    parser.add_argument("--out", type=Path, default=ROOT / "results/benchmarks/first-sets.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    machine = describe_machine()
    print(in_words(machine), flush=True)
    graph, clauses = load_graph("fb122"), read_clauses(dataset_clauses("fb122"))
    changes = [f"model.dim={options.dim}", f"train.epochs={options.epochs}", "evaluate.every=0", "train.device=cpu"]
    rows: list[dict[str, Any]] = []
    for seed in range(options.seeds):
        for variant in options.sets:
            settings = Settings.load(None, [*changes, f"train.seed={seed}"], preset=_PRESET)
            rows.append({"first sets": variant, "seed": seed} | _train(graph, clauses, settings, variant))
            print(rows[-1], flush=True)
            store(options.out, {"machine": machine, "preset": _PRESET, "changes": changes, "rows": rows})
    print(f"| first sets | {' | '.join(_PARTS)} |\n|{'---|' * (len(_PARTS) + 1)}")
    for variant in dict.fromkeys(row["first sets"] for row in rows):
        found = [[row[part] for row in rows if row["first sets"] == variant] for part in _PARTS]
        spread = [f"{fmean(one):.4f} ± {stdev(one):.4f}" if len(one) > 1 else f"{one[0]:.4f}" for one in found]
        print(f"| {variant} | {' | '.join(spread)} |")


def _train(graph: Graph, clauses: Sequence[Clause], settings: Settings, variant: str) -> dict[str, float]:
    """Return the MRR of the last epoch by part of test."""
    training = prepare(graph, clauses, settings)
    about = settings.clauses
    if variant == "Xavier, not searched":
        training.opening = XavierSets(about.sets, about.pooling)
    elif variant == "entities, not searched":
        training.opening = RealEntities(about.sets, about.pooling)
    found = evaluate(training.run().eval(), graph)
    parts = {part: measured["filtered"]["both"]["mrr"] for part, measured in found.parts.items()}
    return {part: round((parts | {"test": found.filtered["both"]["mrr"]})[part], 5) for part in _PARTS}


if __name__ == "__main__":
    main()
