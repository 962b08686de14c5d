"""How well mined rules rank without a model: by the maximum, nothing fitted, with what mining and voting take.

    python benchmarks/rules_alone.py [wn18rr fb15k-237] [--split test] [--facts 3000] [--out records.json]

Filtered metrics of both sides, realistic ties. ``--facts`` ranks so many facts, drawn at random. Each graph is a line,
and a record in the file. Processor seconds are those of all threads: two cores that have nothing else to do take half.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from clausal.evaluation import evaluate
from clausal.fusion import Evidence, RulesAlone, mine_rules
from clausal.graph import load_graph


@dataclass(frozen=True)
class Time:
    """Seconds by the clock and of the processor."""

    wall: float
    processor: float


class Stopwatch:
    """Measures one part of the work after the other."""

    def __init__(self) -> None:
        self._last = self._now()

    def lap(self) -> Time:
        """Return what the part since the last call took."""
        before, self._last = self._last, self._now()
        return Time(*(round(now - then, 1) for now, then in zip(self._last, before, strict=True)))

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.perf_counter(), time.process_time()


def measure(name: str, split: str, most: int | None) -> dict[str, object]:
    """Mine the train facts of a graph and rank the facts of a split by the rules."""
    graph = load_graph(name)
    facts = getattr(graph, split)
    if most is not None and len(facts) > most:
        facts = facts[np.sort(np.random.default_rng(0).choice(len(facts), most, replace=False))]
    watch = Stopwatch()
    rules = mine_rules(graph)
    mining = watch.lap()
    ranker = RulesAlone(Evidence(graph.train, len(graph.entities), len(graph.relations), rules), torch.device("cpu"))
    found = evaluate(ranker, graph, split=facts).filtered["both"]
    about = {"graph": name, "split": split, "facts": len(facts)}
    about |= {"paths": len(rules.paths), "constants": len(rules.attributes)}
    return about | {"mining": asdict(mining), "ranking": asdict(watch.lap()), **found}


def main() -> None:
    """Measure each graph and print its line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", default=["wn18rr", "fb15k-237"])
    parser.add_argument("--split", choices=["valid", "test"], default="test")
    parser.add_argument("--facts", type=int, help="facts that are ranked, at most; all unless given")
    parser.add_argument("--out", type=Path, help="file for the records, as JSON")
    options = parser.parse_args()
    records = []
    for name in options.graphs:
        records.append(one := measure(name, options.split, options.facts))
        times = (
            f"{part} {one[part]['wall']} s ({one[part]['processor']} s of processors)" for part in ("mining", "ranking")
        )
        print(
            f"{name}, {one['facts']:,} {options.split} facts: MRR {one['mrr']:.4f}, Hits@1 {one['hits@1']:.4f}, "
            f"Hits@10 {one['hits@10']:.4f}; {one['paths']:,} path rules, {one['constants']:,} with constants; "
            f"{', '.join(times)}",
            flush=True,
        )
        if options.out is not None:
            options.out.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
