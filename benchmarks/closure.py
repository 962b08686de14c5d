"""How the closure grows: facts in, facts out, seconds and peak memory for graphs of growing size and five rules.

    python benchmarks/closure.py [--facts 100000 1000000 11700000] [--threads 2] [--memory 1GB]

Targets on two cores: 11.7 million facts under 8 s and 1.5 GB, and FB122, closed first, under 1 s.
Each size runs in a process of its own, so that its peak memory is its own; the last column is the peak before the
closure, with the facts made. The graph is random: entities grow with the facts, and ten relations share them. The rules
are a symmetry, an inverse, an implication, a composition and a transitivity, whose relation is made of chains of eight.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import time
from collections.abc import Iterator
from math import gcd
from multiprocessing.context import SpawnProcess

import numpy as np

from clausal.graph import Facts, Names, dataset_clauses, load_graph
from clausal.graph.facts import drop_duplicates
from clausal.logic import parse_clauses, read_clauses
from clausal.logic.closure import close_rules
from clausal.logic.rules import encode_rules

RULES = """
r0(X, Y) => r0(Y, X)
r1(X, Y) => r2(Y, X)
r3(X, Y) => r4(X, Y)
r5(X, Y), r6(Y, Z) => r7(X, Z)
r8(X, Y), r8(Y, Z) => r8(X, Z)
"""
RELATIONS = 10
CHAIN = 8
_BLOCK = 1 << 24


def make_facts(size: int, seed: int = 0) -> Facts:
    """Make about ``size`` random facts in ten relations; those of r8 are chains."""
    return np.concatenate(list(fact_blocks(size, seed)))


def fact_blocks(size: int, seed: int = 0) -> Iterator[Facts]:
    """Yield the same facts in blocks, so that there may be more of them than the memory holds.

    Each block has subjects of its own but for those of chains, so that no fact is in two of them.
    """
    generator = np.random.default_rng(seed)
    count, entities = -(-size // _BLOCK), max(size // 4, 10 * CHAIN)
    step = next(one for one in range(entities * 5 // 8, 0, -1) if gcd(one, entities) == 1)  # mixes the chains
    for number in range(count):
        first, end = (entities * one // count for one in (number, number + 1))
        facts = np.empty((size // count, 3), dtype=np.int32)
        facts[:, 0] = generator.integers(first, end, size=len(facts), dtype=np.int32)
        facts[:, 1] = generator.integers(RELATIONS, size=len(facts), dtype=np.int32)
        facts[:, 2] = generator.integers(entities, size=len(facts), dtype=np.int32)
        chained = np.flatnonzero(facts[:, 1] == 8)
        place = first + np.arange(len(chained)) % (end - first - 1)
        place = place[place % CHAIN != CHAIN - 1]
        chained, lost = chained[: len(place)], chained[len(place) :]
        facts[chained, 0], facts[chained, 2] = place * step % entities, (place + 1) * step % entities
        facts[lost, 1] = 9
        yield drop_duplicates(facts, entities, RELATIONS)


def measure(size: int, threads: int | None, memory: str | None) -> None:
    """Close one graph and print a line."""
    facts = make_facts(size)
    # No rule here has a constant, so that the names of millions of entities need not be made.
    relations = Names([f"r{n}" for n in range(RELATIONS)], "relation")
    rules = encode_rules(parse_clauses(RULES), Names([], "entity"), relations)
    before = _peak()
    started, worked = time.perf_counter(), time.process_time()
    closure = close_rules(facts, rules, threads=threads, memory=memory)
    seconds, work = time.perf_counter() - started, time.process_time() - worked
    rate = len(closure.facts) / seconds / 1e6
    print(
        f"{len(facts):>12,} {len(closure.facts):>12,} {len(closure.rounds):>7} {seconds:>9.2f} {work:>9.2f} "
        f"{rate:>9.2f} {_peak():>9,.0f} {before:>9,.0f}",
        flush=True,
    )


def measure_fb122(threads: int | None, memory: str | None) -> None:
    """Close FB122 under its published clauses and print a line."""
    graph, clauses = load_graph("fb122"), dataset_clauses("fb122")
    assert clauses is not None
    rules = encode_rules(read_clauses(clauses), graph.entities, graph.relations)
    started = time.perf_counter()
    closure = close_rules(graph.train, rules, threads=threads, memory=memory)
    seconds = time.perf_counter() - started
    print(f"fb122: {len(graph.train):,} facts, {len(closure.facts):,} closed: {seconds:.2f} s (target 1 s)", flush=True)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure each size in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, nargs="+", default=[100_000, 300_000, 1_000_000, 3_000_000, 11_700_000])
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--memory", default=None)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the start")
    context = multiprocessing.get_context("spawn")
    _run(context.Process(target=measure_fb122, args=(options.threads, options.memory)))
    print("    facts in    facts out  rounds   seconds  CPU secs  Mfacts/s  peak MiB  (before)")
    for size in options.facts:
        _run(context.Process(target=measure, args=(size, options.threads, options.memory)))
    print("target for 11,700,000 facts: 8 s, 1,430 MiB (1.5 GB)")


def _run(process: SpawnProcess) -> None:
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(process.exitcode)


if __name__ == "__main__":
    main()
