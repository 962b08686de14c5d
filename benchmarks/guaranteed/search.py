"""Choose settings of a training with hard clauses on valid: ``python -m guaranteed.search LIST --out FOLDER``.

LIST is a JSON list of changes to a preset, each a list of KEY=VALUE; test is not looked at. Each gets a record with
filtered MRR on valid, as the model ranks and with what clauses of some confidence in train entail first.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from clausal import Settings, train
from clausal.graph import dataset_clauses, load_graph
from clausal.logic import read_clauses
from common.processes import store
from guaranteed.__main__ import CONFIDENCES, entailed_first


def main() -> None:
    """Train one after another until time is up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("--graph", default="fb122")
    parser.add_argument("--preset", default="fb122-hard-best")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=400, help="no training begins later")
    options = parser.parse_args()
    graph, path = load_graph(options.graph), dataset_clauses(options.graph, simple=options.graph == "fb122")
    assert path is not None
    clauses, began = read_clauses(path), time.perf_counter()
    for number, changes in enumerate(json.loads(options.list.read_text())):
        started = time.perf_counter()
        if started - began > options.seconds:
            break
        run = train(graph, clauses, Settings.load(None, changes, preset=options.preset))
        record = {"changes": changes, "seconds": round(time.perf_counter() - started, 1)}
        record["model"] = run.evaluate("valid").to_dict()["filtered"]["both"]["mrr"]
        for least in CONFIDENCES:
            ranked = entailed_first(run, "valid", least)
            record[f"entailed from {least}"] = ranked["filtered"]["both"]["mrr"]
        record["epoch"] = run.metrics["training"]["best_epoch"]
        print(json.dumps(record), flush=True)
        store(options.out / f"{options.list.stem}-{number}.json", record)


if __name__ == "__main__":
    main()
