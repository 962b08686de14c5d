"""Beyond memory and one machine: what the engines do with graphs that are large, dense, or joined with everything.

    python benchmarks/engines.py spark [--facts 50000000] [--workers 2] [--memory 2GB]
    python benchmarks/engines.py disk [--memory 1GB] [--times 4]
    python benchmarks/engines.py limits
    python benchmarks/engines.py mining

``spark`` closes a random graph (of ``benchmarks/closure.py``, five rules) on DuckDB and on a standalone cluster of this
machine, a master and workers of one core each, and compares them fact for fact. ``disk`` closes a graph of so many
times DuckDB's memory limit. ``limits`` asks for 5,000 facts from clauses that join everything with everything.
``mining`` mines 1,500 entities of which all pairs are facts, and up to 100,000 relations. Each is kept in
results/benchmarks/engines.json.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from clausal.errors import RunError
from clausal.graph import Graph, Names
from clausal.logic import parse_clauses
from clausal.logic.closure import close, close_rules
from clausal.logic.mining import mine
from clausal.logic.rules import RuleSet, encode_rules
from clausal.logic.store import memory_bytes
from closure import RELATIONS, RULES, fact_blocks, make_facts
from common.machine import describe_machine, in_words
from common.memory import forget_peak, own, peak, resident
from common.spark_cluster import Standalone

RESULTS = Path(__file__).parent.parent / "results" / "benchmarks" / "engines.json"
_BYTES = 12  # of a fact: three ids


def measured(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Do something; return what it gives, with seconds of the clock and of all cores, and megabytes above before."""
    forget_peak()
    before, started, worked = resident(), time.perf_counter(), time.process_time()
    result = work()
    seconds, cores = time.perf_counter() - started, time.process_time() - worked
    return result, {
        "seconds": round(seconds, 1),
        "core seconds": round(cores, 1),
        "more MB": round(peak() - before),
    }


def rules_of_benchmark() -> RuleSet:
    """Return the rules of the random graph; no name of an entity is needed."""
    relations = Names([f"r{n}" for n in range(RELATIONS)], "relation")
    return encode_rules(parse_clauses(RULES), Names([], "entity"), relations)


def spark(options: argparse.Namespace) -> dict[str, Any]:
    """Close one graph on both engines and compare."""
    facts, rules = make_facts(options.facts), rules_of_benchmark()
    duck, on_duckdb = measured(lambda: close_rules(facts, rules))
    with tempfile.TemporaryDirectory(prefix="clausal-engines-") as folder:
        (Path(folder) / "shared").mkdir()
        cluster = Standalone(Path(folder), options.workers, options.memory.replace("B", ""))
        shared = {"master": cluster.master, "shared": f"{folder}/shared", "memory": options.memory}
        try:
            found, on_spark = measured(lambda: close_rules(facts, rules, engine="spark", **shared))
        finally:
            cluster.stop()
    same = np.array_equal(found.facts, duck.facts) and np.array_equal(found.round_of, duck.round_of)
    return {
        "facts in": len(facts),
        "facts out": len(duck.facts),
        "rounds": len(duck.rounds),
        "workers": options.workers,
        "memory of a worker": options.memory,
        "same facts and rounds": same,
        "DuckDB": on_duckdb,
        "Spark": on_spark,
    }


def disk(options: argparse.Namespace) -> dict[str, Any]:
    """Close a graph that is some times larger than the memory limit."""
    limit = memory_bytes(options.memory)
    with tempfile.TemporaryDirectory(prefix="clausal-engines-") as folder, tempfile.TemporaryFile() as given:
        for block in fact_blocks(options.times * limit // _BYTES):
            given.write(block.tobytes())
        given.flush()
        facts = np.memmap(given, np.int32, "r").reshape(-1, 3)
        tempfile.tempdir = folder  # of its own, so that all that is in it is of this closure
        watched = _Watched(Path(folder))
        found, figures = measured(lambda: close_rules(facts, rules_of_benchmark(), memory=options.memory))
        figures |= watched.stop()
        tempfile.tempdir = None
    return {
        "memory limit": options.memory,
        "facts in": len(facts),
        "MB of facts in": len(facts) * _BYTES // 1_000_000,
        "facts out": len(found.facts),
        "MB of the result": len(found.facts) * (_BYTES + 4) // 1_000_000,
        **figures,
    }


class _Watched:
    """Looks every second how much there is in a folder, and how much memory this process has of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._before = folder, own()
        self._most, self._own, self._ended = 0, 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> dict[str, float]:
        """Return the most megabytes that were there."""
        self._ended.set()
        self._thread.join()
        return {"most MB on disk": self._most // 1_000_000, "more MB of its own": round(self._own - self._before)}

    def _look(self) -> None:
        while not self._ended.wait(1):
            self._most = max(self._most, sum(_sizes(self._folder)))
            self._own = max(self._own, own())


def _sizes(folder: Path) -> Iterator[int]:
    """Yield the sizes of the files below a folder; those that are removed meanwhile are left out."""
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                yield (Path(above) / name).stat().st_size


CLAUSES = {
    "everything with everything": "p(X, Y), p(Z, U) => q(X, U)",
    "four atoms that share nothing": "p(X, Y), p(Z, U), p(V, W), p(A, B) => q(X, U)",
    "a chain beside": "p(X, Y), p(Z, U), p(Z, W), p(A, W) => q(X, A)",
}


def limits(options: argparse.Namespace) -> dict[str, Any]:
    """Ask for few facts from clauses that give very many."""
    size = 100_000
    pairs = np.random.default_rng(0).integers(size, size=(size, 2))
    facts = np.column_stack([pairs[:, 0], np.zeros(size, np.int64), pairs[:, 1]]).astype(np.int32)
    names = Names([f"e{n}" for n in range(size)], "entity"), Names(["p", "q"], "relation")
    graph = Graph(*names, train=np.unique(facts, axis=0))

    def ends(clause: str) -> str:
        try:
            close(graph, parse_clauses(clause), limit=size + 5_000, memory="1GB")
        except RunError as error:
            return str(error)
        raise AssertionError("the limit was not noticed")

    return {name: measured(lambda clause=clause: ends(clause))[1] for name, clause in CLAUSES.items()}


def mining(options: argparse.Namespace) -> dict[str, Any]:
    """Mine graphs that are as dense, and have as many relations, as graphs may be."""
    size, many = 1_500, 100_000
    subjects, objects = np.divmod(np.arange(size * size), size)
    draw = np.random.default_rng(0)
    some = draw.choice(size * size, 2 * many, replace=False)
    cases = {
        "all pairs, one relation": (subjects, np.zeros(size * size, np.int64), objects, 1),
        "200,000 facts, 100,000 relations": (subjects[some], np.arange(2 * many) % many, objects[some], many),
        "all pairs, 100,000 relations": (subjects, draw.integers(many, size=size * size), objects, many),
    }
    figures = {}
    for name, (subject, relation, object, relations) in cases.items():
        names = Names([f"e{n}" for n in range(size)], "entity"), Names([f"r{n}" for n in range(relations)], "relation")
        graph = Graph(*names, train=np.column_stack([subject, relation, object]).astype(np.int32))
        rules, figures[name] = measured(lambda graph=graph: mine(graph, prune=True))
        figures[name] |= {"facts": len(graph.train), "rules": len(rules)}
        print(name, figures[name], flush=True)
    return figures


def main() -> None:
    """Measure one thing, print it and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["spark", "disk", "limits", "mining"])
    parser.add_argument("--facts", type=int, default=50_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default=None)
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    options.memory = options.memory or ("1GB" if options.what == "disk" else "2GB")
    machine = describe_machine()
    figures = {"spark": spark, "disk": disk, "limits": limits, "mining": mining}[options.what](options)
    kept = json.loads(options.out.read_text()) if options.out.exists() else {}
    record = {"machine": machine, **figures}
    kept[options.what] = kept.get("disk", {}) | {options.memory: record} if options.what == "disk" else record
    options.out.write_text(json.dumps(kept, indent=1) + "\n")
    print(in_words(machine))
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
