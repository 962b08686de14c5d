"""Measure how fast a graph is read from N-Triples, next to the same facts as TSV.

python benchmarks/reading.py [--triples 20000000]

Target on two cores: 20 million triples of N-Triples at a million a second, with the memory that TSV needs. The names
are IRIs, and there are four triples for each entity. Each file is read in a process of its own, after a small one that
loads the libraries.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from clausal.graph import load_graph

RELATIONS = 100
BATCH = 200_000
LINES = {".nt": "<{}> <{}> <{}> .\n", ".tsv": "{}\t{}\t{}\n"}


def write(path: Path, triples: int) -> None:
    """Write random facts over IRIs, the same ones in either format."""
    generator = np.random.default_rng(0)
    line = LINES[path.suffix]
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, triples, BATCH):
            size = min(BATCH, triples - start)
            ids = generator.integers([triples // 4, RELATIONS, triples // 4], size=(size, 3)).tolist()
            for subject, relation, object in ids:
                file.write(
                    line.format(
                        f"http://example.org/resource/entity_{subject}",
                        f"http://example.org/ontology/relation_{relation}",
                        f"http://example.org/resource/entity_{object}",
                    )
                )


def measure(small: Path, path: Path, result: Connection) -> None:
    """Read a file and send the facts, the seconds and the peak memory in GB."""
    load_graph(small, valid=0, test=0)
    started = time.perf_counter()
    graph = load_graph(path, valid=0, test=0)
    seconds = time.perf_counter() - started
    result.send((len(graph.train), seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6))


def main() -> None:
    """Write both files and read them in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triples", type=int, default=20_000_000)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the start", flush=True)
    context = multiprocessing.get_context("spawn")
    rates: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for ending in LINES:
            small, path = Path(folder, f"small{ending}"), Path(folder, f"facts{ending}")
            write(small, BATCH)
            write(path, options.triples)
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=measure, args=(small, path, sender))
            process.start()
            sender.close()
            facts, seconds, memory = receiver.recv()
            process.join()
            rates[ending] = options.triples / seconds
            print(
                f"{ending:<5} {options.triples:>12,} triples, {facts:,} facts, {path.stat().st_size / 1e9:.2f} GB: "
                f"{seconds:.1f} s, {rates[ending] / 1e6:.2f} million triples/s, {memory:.1f} GB",
                flush=True,
            )
            path.unlink()
    print(f"N-Triples at {rates['.nt'] / rates['.tsv']:.2f} times the speed of TSV (target: 1 million triples/s)")


if __name__ == "__main__":
    main()
