"""Train the benchmarks with hard clauses: ``python -m guaranteed [fb122] [wn18] [--seeds 0 1 2]``, from benchmarks.

For each seed the preset ``NAME-hard`` is trained, saved and loaded; the record says filtered MRR on valid and test,
what ``certify --tolerance 0`` finds, and what a search of its own arithmetic finds from 1,000 starts for each clause.
Records are in results/hard/NAME-seedN.json; what is there is not trained again. ``--preset fb122-hard-best`` is the
model against all entities, for a GPU. ``--set`` changes settings, for choices on valid; ``--name`` names such records.
``--fuse`` ranks test by the model and votes, too: of the data set's clauses, and of mined rules, which takes minutes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from clausal import Settings, load, train
from clausal.graph import dataset_clauses, load_graph
from clausal.logic import Clause, read_clauses
from clausal.run import Run
from clausal.training import algorithm
from common.machine import describe_machine
from common.processes import store
from guaranteed.attack import worst_violation

RECORDS = Path(__file__).parents[2] / "results/hard"
_STARTS = 1000
CONFIDENCES = (0.5, 0.6, 0.7, 0.725, 0.75, 0.775, 0.8, 0.825)
"""What a clause must have in train for its consequences to come first, at least; chosen on valid."""


def main() -> None:
    """Train what has no record yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", default=["fb122", "wn18"], metavar="NAME")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes")
    parser.add_argument("--preset", default="{}-hard", help="of the training, by graph")
    parser.add_argument("--fuse", action="store_true", help="with votes of clauses and of mined rules, too")
    parser.add_argument("--alike", action="store_true", help="project with all numbers alike, not as AdaGrad counts")
    parser.add_argument("--name", default="{}-seed{}", help="of a record, by graph and seed")
    parser.add_argument("--out", type=Path, default=RECORDS)
    options = parser.parse_args()
    if options.alike:
        algorithm.squared_gradients = lambda optimizer, parameter: None
    for name in options.graphs:
        for seed in options.seeds:
            path = options.out / f"{options.name.format(name, seed)}.json"
            if not path.exists():
                preset = options.preset.format(name)
                for record in measure(name, preset, [*options.changes, f"train.seed={seed}"], options.fuse):
                    store(path, record)


def measure(name: str, preset: str, changes: list[str], fuse: bool) -> Iterator[dict[str, Any]]:
    """Train, save, load, rank, certify and attack; then again with what fusion brings."""
    path = dataset_clauses(name, simple=name == "fb122")
    assert path is not None
    clauses = read_clauses(path)
    settings = Settings.load(None, changes, preset=preset)
    with tempfile.TemporaryDirectory() as folder:
        out, started = Path(folder) / "run", time.perf_counter()
        trained = train(load_graph(name), clauses, settings, out=out)
        seconds = round(time.perf_counter() - started, 1)
        run = load(out)
        found = {"seconds": seconds, "metrics": trained.metrics, **examine(run)}
        record = {"graph": name, "machine": describe_machine(), "settings": settings.model_dump(mode="json"), **found}
        print(name, " ".join(changes), _rounded(found["mrr"]), f"{seconds} s", flush=True)
        print(found["certificates"], found["attack"], flush=True)
        yield record
        if fuse:
            given = dataset_clauses(name)
            assert given is not None
            record["fused"] = {}
            for rules, voting in {"its clauses": list(read_clauses(given)), "mined rules": None}.items():
                found = run.fuse(voting).evaluate("test", ranking="fused").to_dict()
                parts = {"test": found, **found["parts"]}
                record["fused"][rules] = {part: one["filtered"]["both"]["mrr"] for part, one in parts.items()}
                print("fused by", rules, _rounded(record["fused"][rules]), flush=True)
                yield record


def _rounded(mrr: dict[str, float]) -> dict[str, float]:
    return {part: round(value, 4) for part, value in mrr.items()}


def examine(run: Run) -> dict[str, Any]:
    """Rank valid and test, certify without tolerance, and look for vectors that break a clause.

    The ranking with entailed facts first uses the likelier clauses of the data set, also those that cannot be hard:
    from the confidence on that is best on valid.
    """
    ranked = run.evaluate("test").to_dict()
    parts = {"valid": run.evaluate("valid").to_dict(), "test": ranked, **ranked["parts"]}
    tried = {least: entailed_first(run, "valid", least) for least in CONFIDENCES}
    least = max(CONFIDENCES, key=lambda one: tried[one]["filtered"]["both"]["mrr"])
    parts |= {f"valid, entailed first from {one}": found for one, found in tried.items()}
    entailed = entailed_first(run, "test", least)
    parts |= {"entailed first": entailed, **{f"{part}, entailed first": one for part, one in entailed["parts"].items()}}
    mrr = {part: one["filtered"]["both"]["mrr"] for part, one in parts.items()}
    print(_rounded(mrr), flush=True)
    certified = run.certify(tolerance=0)
    print(certified.verdicts, flush=True)
    attacked = [worst_violation(run.predictor, clause, list(run.graph.relations), _STARTS) for clause in run.clauses]
    return {
        "mrr": mrr,
        "least confidence": least,
        "certificates": {
            "clauses": len(run.clauses),
            "verdicts": certified.verdicts,
            "sum of bounds": sum(one.bound or 0.0 for one in certified.clauses),
        },
        "attack": {
            "starts": _STARTS,
            "largest violation": max(found for found, _ in attacked),
            "above rounding": sum(found > rounding for found, rounding in attacked),
        },
    }


def entailed_first(run: Run, part: Literal["valid", "test"], least: float) -> dict[str, Any]:
    """Rank a part with what the clauses of at least this confidence entail first."""
    return run.evaluate(part, ranking="entailed", clauses=entailing(run.graph.name, least)).to_dict()


def entailing(name: str, least: float) -> list[Clause]:
    """Return the clauses of a data set with at least this confidence in train, which lacks a fifth of what is true."""
    weighed = RECORDS.parent / f"beyond/{name}/weighed.clauses"
    path = weighed if weighed.exists() else dataset_clauses(name)
    assert path is not None
    return [clause for clause in read_clauses(path) if clause.weight >= least]


if __name__ == "__main__":
    main()
