"""How near ``--preset best`` comes to a search: both on valid, with the settings that the rule gives two cores.

    python benchmarks/thirty_trials.py search GRAPH [--part 0/3] [--seconds 400] --out records.jsonl
    python benchmarks/thirty_trials.py best GRAPH [--seeds 1] --out records.jsonl

``search`` makes thirty trials: the rule's settings, and 29 points drawn at random from the space of ``clausal search``,
each a whole training; one that is below the median of the others after a quarter of its epochs is given up. Processes
share the trials by ``--part``. ``best`` races, and trains with what won. Trials are judged by the filtered MRR of the
valid facts with test facts in the filter, as in ``clausal train``. On a GPU the same settings are trained, only faster.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from clausal import Graph, Settings, load_graph
from clausal.observer import Calling
from clausal.search.best import Machine, values_for
from clausal.search.racing.plan import make_plan
from clausal.search.racing.race import race
from clausal.search.racing.work import Size
from clausal.search.space import Range, change, make_space
from clausal.search.trials import train_trial

TRIALS = 30
TWO_CORES = Machine(gpu=False, cores=2, memory=24 * 2**30)


def main() -> None:
    """Search or race, and write each training down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=["search", "best"])
    parser.add_argument("graph")
    parser.add_argument("--part", default="0/1", help="which of so many processes this is")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no trial after so long")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--dim", type=int, help="another dimension than the rule's, for a quick try")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        torch.set_num_threads(1)
    graph = load_graph(options.graph)
    values = values_for(len(graph.entities), len(graph.train), False, TWO_CORES)
    start = change(Settings.from_mapping(values), {"evaluate.metric": "mrr"})
    if options.dim:
        start = change(start, {"model.dim": options.dim})
    made = (
        search(graph, start, options.part, options.seconds)
        if options.way == "search"
        else best(graph, start, options.seeds)
    )
    for record in made:
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"graph": Path(options.graph).name, "way": options.way, **record}) + "\n")
        print(record, flush=True)


def search(graph: Graph, start: Settings, part: str, seconds: float):
    """Yield a record of each trial of a part."""
    first, step = map(int, part.split("/"))
    until = time.monotonic() + seconds
    curves: list[dict[int, float]] = []

    def hopeless(epoch: int, value: float) -> bool:
        others = [max(own for at, own in curve.items() if at <= epoch) for curve in curves if min(curve) <= epoch]
        return len(others) >= 3 and epoch >= start.train.epochs // 4 and value < statistics.median(others)

    for number in range(first, TRIALS, step):
        if time.monotonic() > until:
            return
        changes = points(start)[number]
        record = trained(graph, change(start, changes), hopeless)
        curves += [record["curve"]] if record["curve"] else []
        yield {"trial": number, "changes": changes, **record}


def points(start: Settings) -> list[dict[str, Any]]:
    """Return the rule's own point, and others at random."""
    draw, space = random.Random(0), make_space(start, clauses=False, largest_dim=2 * start.model.dim)

    def drawn(one):
        if isinstance(one, Range):
            return float(f"{one.low * (one.high / one.low) ** draw.random():.3g}")
        return draw.choice(one.values)

    return [{}, *({one.name: drawn(one) for one in space} for _ in range(TRIALS - 1))]


def best(graph: Graph, start: Settings, seeds: int):
    """Yield a record of each race and its training."""
    with (
        mock.patch("clausal.search.racing.track.this_machine", return_value=TWO_CORES),
        mock.patch("clausal.search.racing.race.this_machine", return_value=TWO_CORES),
    ):
        for seed in range(seeds):
            settings = change(start, {"train.seed": seed})
            plan = make_plan(Size.of(graph), settings, TWO_CORES)
            found = race(graph, (), settings, plan=plan, observer=Calling(message=print))
            yield {"seed": seed, "changes": dict(found.changes), **trained(graph, found.settings)}


def trained(graph: Graph, settings: Settings, hopeless: Callable[[int, float], bool] = lambda epoch, value: False):
    """Train, and return the best MRR on valid with the curve that it is from."""
    curve: dict[int, float] = {}
    started = time.monotonic()

    def epoch(record: dict[str, Any]) -> None:
        if "valid" in record:
            curve[record["epoch"]] = round(record["valid"]["mrr"], 5)

    found = train_trial(
        *(graph, [], settings),
        hopeless=hopeless,
        deadline=float("inf"),
        observer=Calling(epoch=epoch),
        tell=lambda _: None,
    )
    seconds = round(time.monotonic() - started, 1)
    return {"state": found.state, "valid": max(curve.values(), default=None), "curve": curve, "seconds": seconds}


if __name__ == "__main__":
    main()
