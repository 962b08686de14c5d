"""Large graphs on one GPU: whole passes over up to 500 million facts, their memory, and what clauses add.

    python benchmarks/gpu_scale.py [--scale 1] [--batch 1048576] [--out FILE]

Growing graphs of ten facts for each entity train by rows, in bfloat16 with one AdaGrad sum for each row, up to 50
million entities of dim 128. A graph of the size of Wikidata5M (4.6 million entities, 822 relations, 21 million facts)
trains without and with 100 clauses. Facts are random: subjects uniform, objects n·u² for a uniform u, so that few of
them have many facts. Each figure is a whole pass, random order and corruptions included, after a short training has
compiled the kernels. With ``--scale 0.0001`` all of it runs on a CPU in a minute.
"""

from __future__ import annotations

import argparse
import gc
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from clausal.config import Settings
from clausal.graph import Graph
from clausal.graph.vocabulary import Names
from clausal.logic import Clause, parse_clauses
from clausal.observer import Calling
from clausal.training.prepare import prepare
from common.machine import describe_machine, in_words
from common.memory import peak
from common.processes import store

ROOT = Path(__file__).parent.parent
MILLION = 1_000_000
GROWTH = (1 * MILLION, 5 * MILLION, 20 * MILLION, 100 * MILLION, 500 * MILLION)
FACTS_PER_ENTITY = 10
WIKIDATA5M = {"entities": 4_594_485, "relations": 822, "facts": 20_614_279}
BY_ROWS = {"table_precision": "bfloat16", "adagrad_sums": "row"}
_AT_ONCE = 20 * MILLION


class Numbered(Names):
    """Names that are their numbers and take no memory."""

    def __init__(self, count: int, kind: str) -> None:
        self._names = range(count)  # type: ignore[assignment]
        self.kind = kind


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="factor of all sizes of graphs")
    parser.add_argument("--batch", type=int, default=1 << 20, help="facts in a batch of the growing graphs")
    parser.add_argument("--out", type=Path, default=ROOT / "results/benchmarks/gpu-scale.json")
    options = parser.parse_args()
    cuda = torch.cuda.is_available()
    machine = describe_machine() | {"gpu": torch.cuda.get_device_name() if cuda else None}
    print(in_words(machine), machine["gpu"] or "no GPU", sep="; ", flush=True)
    points: list[dict[str, Any]] = []

    def point(what: str, graph: Graph, clauses: list[Clause], batch: int, train: dict[str, Any]) -> None:
        points.append(_measure(what, graph, clauses, batch, train))
        store(options.out, {"machine": machine, "scale": options.scale, "points": points})

    sizes = {name: max(20, round(options.scale * size)) for name, size in WIKIDATA5M.items() if name != "relations"}
    relations = Names([f"relation_{number}" for number in range(WIKIDATA5M["relations"])], "relation")
    graph = random_graph(sizes["entities"], relations, sizes["facts"])
    clauses = random_clauses(100)
    for batch in sorted({1 << 16, options.batch}):
        for train in ({}, BY_ROWS):
            for given in ([], clauses):
                point("wikidata5m-sized", graph, given, batch, train)
    del graph
    for size in GROWTH:
        facts = max(200, round(options.scale * size))
        point("growth", random_graph(facts // FACTS_PER_ENTITY, relations, facts), [], options.batch, BY_ROWS)


def random_graph(entities: int, relations: Names, count: int) -> Graph:
    """Draw facts, on the GPU where there is one."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    generator = torch.Generator(device).manual_seed(0)
    facts = np.empty((count, 3), np.int32)
    for start in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - start)
        columns = [torch.rand(size, generator=generator, device=device, dtype=torch.float64) for _ in range(3)]
        ids = torch.stack([columns[0] * entities, columns[1] * len(relations), columns[2].square() * entities], 1)
        facts[start : start + size] = ids.int().cpu().numpy()
    return Graph(Numbered(entities, "entity"), relations, facts)


def random_clauses(count: int) -> list[Clause]:
    """Draw implications, inverses and compositions, as many of each."""
    shapes = (
        "relation_{}(X, Y) => relation_{}(X, Y)",
        "relation_{}(X, Y) => relation_{}(Y, X)",
        "relation_{}(X, Y), relation_{}(Y, Z) => relation_{}(X, Z)",
    )
    generator = np.random.default_rng(0)
    drawn = (generator.choice(WIKIDATA5M["relations"], size=3, replace=False) for _ in range(count))
    return parse_clauses("\n".join(shapes[number % 3].format(*relations) for number, relations in enumerate(drawn)))


def _measure(what: str, graph: Graph, clauses: list[Clause], batch: int, train: dict[str, Any]) -> dict[str, Any]:
    settings = Settings.from_mapping(
        {
            "model": {"scorer": "complex", "dim": 128, "domain": "cube"},
            "facts": {"batch_size": batch},
            "train": {"epochs": 1, "passes": 1, **train},
            "evaluate": {"every": 0},
        }
    )
    few = graph.train[: min(len(graph.train), 3 * batch)]
    small = Graph(Numbered(1000, "entity"), graph.relations, few % np.array([1000, 1 << 30, 1000], np.int32))
    _pass(small, clauses, settings)  # compiles
    _clear()
    row = {
        "what": what,
        "facts": len(graph.train),
        "entities": len(graph.entities),
        "relations": len(graph.relations),
        "scorer": "complex",
        "dim": 128,
        "clauses": len(clauses),
        "batch": batch,
        "table": train.get("table_precision", "float32"),
        "adagrad_sums": train.get("adagrad_sums", "number"),
        **_pass(graph, clauses, settings),
    }
    row["seconds_per_million"] = row["seconds"] / len(graph.train) * MILLION
    print(
        "{what:17} {facts:>11,} facts {entities:>10,} entities {table:8} batch {batch:>7} {clauses:3} clauses: "
        "pass {seconds:8.3f} s ({seconds_per_million:.4f} s per million), prepared in {preparing:.1f} s, "
        "{memory_gb:.2f} GB".format(**row),
        flush=True,
    )
    _clear()
    return row


def _pass(graph: Graph, clauses: list[Clause], settings: Settings) -> dict[str, Any]:
    """Train for one pass; return its seconds, those before it, and the most memory: of the GPU, or of the process."""
    cuda = torch.cuda.is_available()
    marks: list[float] = []
    started = time.perf_counter()
    training = prepare(graph, clauses, settings, observer=Calling(message=lambda text: None))
    training.objective.clauses.adopt(training.find_adversarial_set())
    if cuda:
        torch.cuda.synchronize()
    prepared = time.perf_counter()
    report = training.train_discriminator(Calling(passed=lambda _: marks.append(time.perf_counter())))
    return {
        "step": training.step.name,
        "preparing": prepared - started,
        "seconds": marks[-1] - prepared,
        "fact_loss": report.fact_loss,
        "memory_gb": (torch.cuda.max_memory_allocated() if cuda else 1e6 * peak()) / 1e9,
    }


def _clear() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


if __name__ == "__main__":
    main()
