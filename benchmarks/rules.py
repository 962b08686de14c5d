"""What rule files cost: reading a million AnyBURL rules, counting ten thousand rules on a graph, or a file of them.

    python benchmarks/rules.py [--rules 1000000] [--graph fb15k-237] [--counted 10000] [--file 56440]

The file has rules as AnyBURL learns them on FB15k-237: with and without constants, bodies of up to three atoms. The
rules that are counted are mined with low thresholds, the most confident first. Those of the file that is counted are
drawn by walks over the graph, most of them with constants; the target is a minute and 2 GB on two cores.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from clausal.graph import Graph, load_graph
from clausal.logic import measure_clauses, mine, read_rules


def read(count: int) -> None:
    """Read a file of so many rules."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(_lines(count))
        target = f" (target {count * 3e-5:.0f} s)"
        _print(f"read {count:,} AnyBURL rules, {path.stat().st_size / 1e6:.0f} MB{target}", lambda: read_rules(path))


def count(name: str, most: int) -> None:
    """Count the rules that are mined from a graph."""
    graph = load_graph(name)
    rules = mine(graph, min_support=5, min_head_coverage=0.001, min_confidence=0.01)[:most]
    clauses = [rule.clause() for rule in rules]
    predictions = sum(rule.body_pairs for rule in rules)
    _print(
        f"{name}: counted {len(clauses):,} rules with {predictions:,} predictions",
        lambda: measure_clauses(clauses, graph),
    )


def count_file(name: str, most: int) -> None:
    """Read and count a file of rules that are drawn by walks over a graph."""
    graph = load_graph(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules"
        path.write_text("".join(f"9\t5\t0.5\t{rule}\n" for rule in _walked(graph, most)), encoding="utf-8")
        _print(
            f"{name}: read and counted a file of {most:,} rules (target 60 s, 2 GB)",
            lambda: measure_clauses(read_rules(path), graph),
        )


def _walked(graph: Graph, most: int) -> list[str]:
    """Draw distinct rules: two thirds with constants, the rest paths of one to three atoms."""
    draw = random.Random(0)
    facts = graph.train.tolist()
    links: dict[int, list[tuple[str, int]]] = {}
    for subject, relation, object in facts:
        links.setdefault(subject, []).append((f"{graph.relations[relation]}({{}},{{}})", object))
        links.setdefault(object, []).append((f"{graph.relations[relation]}({{1}},{{0}})", subject))
    rules: dict[str, None] = {}
    while len(rules) < most:
        subject, relation, object = draw.choice(facts)
        head = graph.relations[relation]
        if draw.random() < 2 / 3:
            body, other = draw.choice(links[subject])
            rule = f"{head}(X,{graph.entities[object]}) <= {body.format('X', graph.entities[other])}"
        else:
            at, atoms = subject, []
            names = ["X", "A", "B", "Y"]
            length = draw.randint(1, 3)
            for step in range(length):
                body, at = draw.choice(links[at])
                atoms.append(body.format(names[step], "Y" if step == length - 1 else names[step + 1]))
            rule = f"{head}(X,Y) <= {', '.join(atoms)}"
        rules[rule] = None
    return list(rules)


def _lines(count: int) -> Iterator[str]:
    draw = random.Random(0)
    relations = [f"/film/film/relation_{n}./film/other_thing/with_a_long_name_{n}" for n in range(237)]
    entities = [f"/m/0{n:05x}" for n in range(14_541)]
    shapes = [
        "{}(X,{c}) <= {}(X,{d})",
        "{}(X,{c}) <= {}(X,A)",
        "{}(X,Y) <= {}(X,A), {}(A,Y)",
        "{}(X,Y) <= {}(X,A), {}(B,A), {}(B,Y)",
        "{}({c},Y) <= ",
    ]
    for number in range(count):
        names = (draw.choice(relations) for _ in range(4))
        rule = shapes[number % 5].format(*names, c=draw.choice(entities), d=draw.choice(entities))
        support = draw.randrange(2, 1000)
        predictions = support + draw.randrange(1000)
        yield f"{predictions}\t{support}\t{support / predictions}\t{rule}\n"


def _print(what: str, work: Callable[[], object]) -> None:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    load = os.getloadavg()[0]
    print(f"{what}: {wall:.1f} s ({processor:.1f} s of one core), peak {peak:.2f} GB, load {load:.1f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", type=int, default=1_000_000, help="how many rules to read")
    parser.add_argument("--graph", default="fb15k-237", help="graph to count rules on")
    parser.add_argument("--counted", type=int, default=10_000, help="how many rules to count")
    parser.add_argument("--file", type=int, default=56_440, help="how many rules of a file to count")
    arguments = parser.parse_args()
    tasks = (
        (read, (arguments.rules,)),
        (count, (arguments.graph, arguments.counted)),
        (count_file, (arguments.graph, arguments.file)),
    )
    for target, given in tasks:  # each in a process of its own, so that its peak memory is its own
        process = multiprocessing.get_context("spawn").Process(target=target, args=given)
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit(process.exitcode)
