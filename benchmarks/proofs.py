"""How long proofs take on FB122: the closure, the index, and the shortest proof of each derived fact.

    python benchmarks/proofs.py [--every 1]

FB122 is looked for as ``clausal train fb122`` does. ``--every 14`` proves about a thousand of the derived facts.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter

import numpy as np

from clausal.graph import dataset_clauses, load_graph
from clausal.graph.query import name_fact
from clausal.logic import read_clauses
from clausal.logic.closure import close
from clausal.logic.proofs import Prover


def main() -> None:
    """Prove the facts and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the start")
    path = dataset_clauses("fb122")
    assert path is not None
    graph, clauses = load_graph("fb122"), read_clauses(path)
    started = time.perf_counter()
    closure = close(graph, clauses)
    closed = time.perf_counter()
    prover = Prover(graph, clauses, closure)
    indexed = time.perf_counter()
    print(f"closure of {len(closure.facts):,} facts {closed - started:.2f} s, index {indexed - closed:.2f} s")
    seconds, sizes = [], Counter[int]()
    for row in closure.derived[:: options.every].tolist():
        before = time.perf_counter()
        proof = prover.prove(name_fact(graph, row))
        seconds.append(time.perf_counter() - before)
        assert proof is not None
        sizes[proof.size] += 1
    taken = np.array(seconds) * 1000
    print(
        f"{len(taken):,} proofs in {taken.sum() / 1000:.1f} s: mean {taken.mean():.2f} ms, "
        f"median {np.median(taken):.2f} ms, worst {taken.max():.1f} ms"
    )
    print("sizes: " + ", ".join(f"{count:,} of {size}" for size, count in sorted(sizes.items())))


if __name__ == "__main__":
    main()
