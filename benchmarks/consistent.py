"""What consistent answers and certificates of decisions cost on FB122: ComplEx, dim 200, trained for some passes.

    python benchmarks/consistent.py [--passes 100] [--run RUN] [--rounds 3] [--parts "47 clauses"] [--out FILE]

Ranking of test by the model, and consistent with the 38 one-atom clauses, in turn, as a ratio of the quickest of some
rounds; consistent with all 47 clauses once, whose compositions and cycle need tables of all pairs; and the decisions
about 38 and 47 clauses, before and after. Seconds of the clock, and beside them those of all processor cores, which
count where the machine is busy with other work.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clausal import Run, Settings, load, train
from clausal.evaluation.consistency import Consistent
from clausal.evaluation.evaluate import evaluate
from clausal.graph import dataset_clauses, load_graph
from clausal.logic import Clause, read_clauses
from common.machine import describe_machine, in_words
from common.processes import store

ROOT = Path(__file__).parent.parent
_RATIO = 3.0
_SECONDS = 90.0


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passes", type=int, default=100)
    parser.add_argument("--run", type=Path, help="a run on FB122 to measure instead")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parts", nargs="*", help="what to measure, by the names of the record; all by default")
    parser.add_argument("--out", type=Path, default=ROOT / "results/benchmarks/consistent.json")
    options = parser.parse_args()
    machine = describe_machine()
    print(in_words(machine), flush=True)
    few, many = clauses_of(simple=True), clauses_of(simple=False)
    run = load(options.run) if options.run else trained(few, options.passes)
    found: dict[str, Any] = {"machine": machine, "model": run.evaluate("test").filtered["both"]["mrr"]}
    parts: dict[str, Callable[[], Any]] = {
        "38 clauses": lambda: ratio(run, few, options.rounds),
        "47 clauses": lambda: whole(run, many),
        "decisions, 38 clauses": lambda: decisions(run, few),
        "decisions, 47 clauses": lambda: decisions(run, many),
    }
    for name, measure in parts.items():  # stored as it goes: the last one takes minutes
        if options.parts and name not in options.parts:
            continue
        found[name] = measure()
        store(options.out, found)


def clauses_of(*, simple: bool) -> list[Clause]:
    """Return the clauses of FB122: all, or those of one atom."""
    path = dataset_clauses("fb122", simple=simple)
    assert path is not None
    return read_clauses(path)


def trained(clauses: list[Clause], passes: int) -> Run:
    """Train a model."""
    given = {
        "model": {"scorer": "complex", "dim": 200},
        "train": {"epochs": max(1, passes // 10)},
        "evaluate": {"every": 0},
    }
    return train(load_graph("fb122"), clauses, Settings.from_mapping(given))


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return what some work gives, and its seconds by the clock and of all cores."""
    wall, cores = time.perf_counter(), time.process_time()
    result = work()
    seconds = {"seconds": time.perf_counter() - wall, "core seconds": time.process_time() - cores}
    return result, {name: round(value, 2) for name, value in seconds.items()}


def ratio(run: Run, clauses: list[Clause], rounds: int) -> dict[str, Any]:
    """Rank by the model and consistently, in turn."""
    consistent = Consistent(run.predictor.with_table(), run.graph, clauses)
    plain, obedient = [], []
    for _ in range(rounds + 1):
        plain.append(timed(lambda: run.evaluate("test"))[1])
        result, seconds = timed(lambda: evaluate(consistent, run.graph))
        obedient.append(seconds)
    ratios = {name: round(min(one[name] for one in obedient) / min(one[name] for one in plain), 2) for name in plain[0]}
    mrr = result.filtered["both"]["mrr"]
    print(f"38 clauses: {ratios['seconds']} × the ranking ({ratios['core seconds']} by core seconds), target {_RATIO}")
    return {"ratios": ratios, "plain": plain, "consistent": obedient, "mrr": mrr}


def whole(run: Run, clauses: list[Clause]) -> dict[str, Any]:
    """Rank consistently with clauses of several atoms."""
    result, seconds = timed(lambda: run.evaluate("test", clauses=clauses, consistent=True))
    mrr = result.filtered["both"]["mrr"]
    print(f"47 clauses: {seconds}, target {_SECONDS} s; MRR {mrr:.3f}", flush=True)
    return {**seconds, "mrr": mrr}


def decisions(run: Run, clauses: list[Clause]) -> dict[str, Any]:
    """Count decisions before and after."""
    before, seconds = timed(lambda: run.decisions(clauses, consistent=False))
    found, both = timed(lambda: run.decisions(clauses))
    sums = {
        name: sum(getattr(one, name).broken for one in found.clauses if getattr(one, name))
        for name in ("before", "after")
    }
    accepted = sum(one.before.accepted for one in before.clauses if one.before)
    print(
        f"decisions, {len(clauses)} clauses: {seconds}, with consistent ones {both}; {accepted:,} bodies, broken {sums}"
    )
    return {"model": seconds, "model and consistent": both, "accepted": accepted, "broken": sums}


if __name__ == "__main__":
    main()
