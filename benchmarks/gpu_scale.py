"""Large graphs on one GPU: whole passes over up to 500 million facts, their memory, and what clauses add.

    python benchmarks/gpu_scale.py [--facts 100000000 500000000] [--no-wikidata] [--scale 1] [--out FILE]

Growing graphs of ten facts for each entity train by rows, in bfloat16 with one AdaGrad sum for each row, up to 50
million entities of dim 128. A graph of the size of Wikidata5M (4.6 million entities, 822 relations, 21 million facts)
trains without and with 100 clauses. Facts are random: subjects uniform, objects n·u² for a uniform u, so that few of
them have many facts. Each figure is a whole pass, random order and corruptions included, after a short training has
compiled the kernels. With ``--scale 0.0001`` all of it runs on a CPU in a minute.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
import traceback
from itertools import product
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
        self._kept = range(count)
        self.kind = kind


def main() -> None:
    """Measure the points that were asked for, and store each as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, nargs="*", default=GROWTH, help="facts of the growing graphs; none: none")
    parser.add_argument("--no-wikidata", action="store_true", help="leave out the graph of the size of Wikidata5M")
    parser.add_argument("--batches", type=int, nargs="+", default=[1 << 16, 1 << 20], help="of Wikidata5M's size")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of all sizes of graphs")
    parser.add_argument("--batch", type=int, default=1 << 20, help="facts in a batch of the growing graphs")
    parser.add_argument("--note", default="", help="a sentence for the page: what else ran on the card, for instance")
    parser.add_argument("--out", type=Path, default=ROOT / "results/benchmarks/gpu-scale.json")
    options = parser.parse_args()
    record = Record(options.out, options.scale, options.note)
    relations = Names([f"relation_{number}" for number in range(WIKIDATA5M["relations"])], "relation")
    for size in options.facts:
        facts = max(200, round(options.scale * size))
        graph = random_graph(facts // FACTS_PER_ENTITY, relations, facts)
        record.add("growth", graph, [], options.batch, BY_ROWS)
        del graph
    if not options.no_wikidata:
        sizes = {name: max(20, round(options.scale * WIKIDATA5M[name])) for name in ("entities", "facts")}
        graph = random_graph(sizes["entities"], relations, sizes["facts"])
        for batch, train, clauses in product(options.batches, ({}, BY_ROWS), ([], random_clauses(100))):
            record.add("wikidata5m-sized", graph, clauses, batch, train)
    raise SystemExit(record.failed)


class Record:
    """The file of all points: a point that is measured again takes the place of the one before."""

    def __init__(self, path: Path, scale: float, note: str) -> None:
        cuda = torch.cuda.is_available()
        self.path, self.note, self.failed = path, note, 0
        self.machine = describe_machine() | {"gpu": torch.cuda.get_device_name() if cuda else None}
        stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        same = stored.get("scale") == scale and stored["machine"]["gpu"] == self.machine["gpu"]
        self.scale, self.points = scale, stored["points"] if same else []
        print(in_words(self.machine), self.machine["gpu"] or "no GPU", sep="; ", flush=True)

    def add(self, what: str, graph: Graph, clauses: list[Clause], batch: int, train: dict[str, Any]) -> None:
        """Measure a point and store all; one that fails is told, and the others go on."""
        try:
            point = _measure(what, graph, clauses, batch, train)
        except Exception:
            traceback.print_exc()
            self.failed += 1
            return
        finally:
            _clear()
        self.points = sorted([one for one in self.points if _key(one) != _key(point)] + [point], key=_key)
        record = {"machine": self.machine, "scale": self.scale, "note": self.note, "points": self.points}
        store(self.path, record)


def _key(point: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(point[name] for name in ("what", "facts", "batch", "table", "adagrad_sums", "clauses"))


def random_graph(entities: int, relations: Names, count: int) -> Graph:
    """Draw facts, on the GPU where there is one."""
    started = time.perf_counter()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    generator = torch.Generator(device).manual_seed(0)
    facts = np.empty((count, 3), np.int32)
    for start in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - start)
        columns = [torch.rand(size, generator=generator, device=device, dtype=torch.float64) for _ in range(3)]
        ids = torch.stack([columns[0] * entities, columns[1] * len(relations), columns[2].square() * entities], 1)
        facts[start : start + size] = ids.int().cpu().numpy()
    print(f"{count:,} facts drawn in {time.perf_counter() - started:.1f} s", flush=True)
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
        "{memory_gb:.2f} GB of tensors, {reserved_gb:.2f} GB taken".format(**row),
        flush=True,
    )
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
        "reserved_gb": (torch.cuda.max_memory_reserved() if cuda else 1e6 * peak()) / 1e9,
    }


def _clear() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


if __name__ == "__main__":
    main()
