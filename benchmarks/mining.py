"""What mining costs: rules found, seconds and peak memory on known data sets, and how many published rules are found.

    python benchmarks/mining.py [--graphs fb122 fb15k-237] [--check]

Each graph runs in a process of its own, so that its peak memory is its own. ``--check`` counts every mined rule again
by SQL on DuckDB, which is slower by far and independent of how mining counts. There different variables may be one
entity, so that it counts the same or more.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import time
from itertools import permutations

from clausal.graph import Graph, dataset_clauses, load_graph
from clausal.logic import Atom, MinedRule, horn_parts, measure_clauses, mine, read_clauses

_TARGETS = {"fb122": " (target 60 s)", "fb15k-237": " (target 300 s, 8 GB)"}


def measure(name: str, check: bool) -> None:
    """Mine one graph with default thresholds and print a line."""
    graph = load_graph(name)
    before, wall, processor = _peak(), time.perf_counter(), time.process_time()
    rules = mine(graph)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(
        f"{name}: {len(graph.train):,} facts, {len(rules):,} rules, {wall:.1f} s ({processor:.1f} s of one core), "
        f"peak {_peak() / 1e9:.2f} GB ({before / 1e9:.2f} GB before), load {os.getloadavg()[0]:.1f}"
        f"{_TARGETS.get(name, '')}"
    )
    clauses = dataset_clauses(name)
    if clauses is not None:
        found = {form for rule in rules for form in _forms(rule.body, rule.head)}
        published = [horn_parts(clause) for clause in read_clauses(clauses)]
        hits = sum(any(form in found for form in _forms(*parts)) for parts in published)
        target = " (target 40)" if name == "fb122" else ""
        print(f"{name}: {hits} of {len(published)} published rules found{target}")
    if check:
        _check(graph, rules)


def _check(graph: Graph, rules: list[MinedRule]) -> None:
    started = time.perf_counter()
    counted = measure_clauses([rule.clause() for rule in rules], graph)
    differ = [
        str(rule)
        for rule, other in zip(rules, counted, strict=True)
        if other is None or rule.support > other.support or rule.body_pairs > other.body
    ]
    assert not differ, f"DuckDB counts less for {len(differ)} rules, such as {differ[0]}"
    same = sum(
        (rule.support, rule.body_pairs, rule.pca_pairs) == (other.support, other.body, other.pca_body)
        for rule, other in zip(rules, counted, strict=True)
        if other is not None
    )
    seconds = time.perf_counter() - started
    print(f"{graph.name}: DuckDB counts the same for {same:,} of {len(rules):,} rules, else more, {seconds:.1f} s")


def _forms(body: tuple[Atom, ...], head: Atom) -> list[object]:
    """Return a rule under every naming of its variables."""
    names = sorted({term.name for atom in (*body, head) for term in atom.terms})
    forms: list[object] = []
    for renamed in permutations(range(3), len(names)):
        of = dict(zip(names, renamed, strict=True))
        *rest, last = ((atom.relation, *(of[term.name] for term in atom.terms)) for atom in (*body, head))
        forms.append((frozenset(rest), last))
    return forms


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Measure each graph in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="+", default=["fb122", "fb15k-237"])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.graphs:
        process = multiprocessing.get_context("spawn").Process(target=measure, args=(name, arguments.check))
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit(process.exitcode)


if __name__ == "__main__":
    main()
