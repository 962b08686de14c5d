"""One process of a training, alone or as one of several: ``python -m together.worker TASK`` prints what it measured."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from common.memory import forget_peak, peak


def main(task: dict[str, Any]) -> dict[str, Any]:
    """Train some passes on the graph in ``folder``; return seconds of a pass, memory and bytes."""
    from clausal import load_graph
    from clausal.config import Settings
    from clausal.logic import read_clauses
    from clausal.observer import Calling
    from clausal.peers.joining import Together, joined
    from clausal.run.directory import RunDirectory
    from clausal.run.training import begin_together
    from clausal.training.prepare import prepare

    folder, out = Path(task["folder"]), Path(task["out"])
    settings = Settings.from_mapping(task["settings"])

    def begin() -> str:
        clauses = read_clauses(folder / "clauses.txt") if task["clauses"] else []
        return str(begin_together(out, load_graph(folder), clauses, settings))

    with joined({}, gpu=False, wait=600, trust_network=False) as peers:
        if isinstance(peers, Together):
            peers.told_by_first(begin)
        else:
            begin()
        loading = peak()
        forget_peak()
        directory = RunDirectory.open(out)
        marks: list[float] = []
        cpu: list[float] = []

        def passed(_: object) -> None:
            marks.append(time.perf_counter())
            cpu.append(time.process_time())

        training = prepare(directory.graph, directory.clauses, directory.settings, peers=peers)
        training.run(Calling(passed=passed))
        warm = task["warm"]
        return {
            "rank": peers.rank,
            "processes": peers.size,
            "facts": len(directory.graph.train),
            "step": training.step.name,
            "pass": (marks[-1] - marks[warm - 1]) / (len(marks) - warm),
            "cpu": (cpu[-1] - cpu[warm - 1]) / (len(cpu) - warm),
            "memory of loading": loading,
            "memory of training": peak(),
            "bytes_per_step": training.bytes_per_step,
        }


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
