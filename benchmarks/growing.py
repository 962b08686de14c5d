"""A model that grows with its graph: what an update, a warm start and a completion take, and how good they are.

    python benchmarks/growing.py [--graph wn18rr --preset wn18rr-best-cpu] [--refine 0 30] [--set KEY=VALUE …]

Speed is measured on a random ComplEx of FB122's size: 9,738 entities, 122 relations, 91,638 facts, dimension 200. What
is learnt is measured on a graph that is trained for it, the demo's by default: entities are held out and folded in,
facts between known ones are held out and told, a tenth of train is held out and trained on from the run without it, and
all pairs are searched for the facts of test.
CPU seconds are printed beside the others, which other processes can make much longer.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from answers import random_run
from clausal import Graph, Run, Settings, load_graph, train
from clausal.demo import SETTINGS, world
from clausal.evaluation.completion import complete
from clausal.graph import Names
from clausal.logic import Clause
from clausal.run.known_facts import SortedFacts
from common.memory import forget_peak, peak, resident

NEW, FACTS_EACH = 1_000, 10
LEAST_FACTS = 3
PARTS = ("update", "complete", "entities", "known", "warm", "precision")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", help="a data set or a folder; the demo's graph by default")
    parser.add_argument("--preset", help="its settings")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--refine", type=int, nargs="+", default=[0, 30])
    parser.add_argument("--draws", type=int, default=1, help="how often to draw the entities that are held out")
    parser.add_argument("--only", choices=PARTS, action="append")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the start")
    parts = options.only or PARTS
    if "update" in parts:
        measure_update()
    if "complete" in parts:
        measure_completion()
    graph, clauses, settings = _chosen(options.graph, options.preset, options.set)
    if "entities" in parts:
        hold_out_entities(graph, clauses, settings, options.refine, options.draws)
    if "known" in parts:
        hold_out_known(graph, clauses, settings, options.refine)
    if "warm" in parts:
        hold_out_facts(graph, clauses, settings)
    if "precision" in parts:
        measure_precision(graph, clauses, settings)


def measure_update() -> None:
    """Fold 1,000 new entities with ten facts each into a run of FB122's size."""
    run, rng = random_run(9_738, 122, 91_638), np.random.default_rng(1)
    names, relations = list(run.graph.entities), list(run.graph.relations)
    facts = [
        (f"new {number}", relations[rng.integers(len(relations))], names[rng.integers(len(names))])
        for number in range(NEW)
        for _ in range(FACTS_EACH)
    ]
    run.update(facts[:FACTS_EACH], refine=1)  # what is loaded and compiled on first use
    many, one = f"{NEW:,} entities with {FACTS_EACH} facts each", f"one entity with {FACTS_EACH} facts"
    _timed(f"fold in {many}", lambda: run.update(facts, refine=0), 2)
    _timed(f"fold in {one}", lambda: run.update(facts[:FACTS_EACH], refine=0))
    _timed(f"update with {one}", lambda: run.update(facts[:FACTS_EACH]))
    _timed(f"update with {many}", lambda: run.update(facts))


def measure_completion() -> None:
    """Search all pairs of a run of FB122's size."""
    run = random_run(9_738, 122, 91_638)
    highest = float(run.score(run.graph.train).scores.max())
    calibration = replace(run.calibration, overall=run.calibration.overall._replace(slope=1.0, intercept=-highest))
    run = replace(run, calibration=calibration)
    forget_peak()
    before = resident()
    found = _timed("complete: 122 × 9,738² facts", lambda: run.complete(min_probability=0.5), 180)
    print(f"  {len(found):,} found, {peak() - before:.0f} MB beyond the model")


def hold_out_entities(
    graph: Graph, clauses: list[Clause], settings: Settings, refine: Sequence[int], draws: int
) -> None:
    """Train without a twentieth of the entities, update with their train facts, and compare with training on all."""
    full = _timed("train on all", lambda: train(graph, clauses, settings))
    ways = [(passes, new) for passes in refine for new in ((None, False, True) if passes else (None,))]
    shares: dict[tuple[int, bool | None], list[float]] = {way: [] for way in ways}
    for draw in range(draws):
        known, facts, test, hidden = without_entities(graph, seed=draw)
        part = _timed("train without 5 % of the entities", partial(train, known, clauses, settings))
        before = [one.bound for one in part.certify(entities=False).clauses]
        for passes, new in ways:
            update = partial(part.update, facts, refine=passes, refine_new=new)
            grown = _timed(f"update, {_way(passes, new)}", update)
            mrr, wanted = mrr_of(grown, graph, test), mrr_of(full, graph, test)
            shares[passes, new].append(mrr / wanted)
            same = [one.bound for one in grown.certify(entities=False).clauses] == before
            print(
                f"  test facts of {len(hidden):,} new entities with {LEAST_FACTS} facts or more: MRR {mrr:.4f}, "
                f"trained on all {wanted:.4f}: {mrr / wanted:.1%}; bounds of {len(before)} clauses "
                f"{'are the same' if same else 'have changed'}"
            )
    for (passes, new), values in shares.items():
        print(f"{_way(passes, new)}: {np.mean(values):.1%} of the MRR of a training on all, mean of {draws}")


def _way(passes: int, new: bool | None) -> str:
    return f"--refine {passes}" + ("" if new is None else " --refine-new" if new else " --no-refine-new")


def hold_out_known(graph: Graph, clauses: list[Clause], settings: Settings, refine: Sequence[int]) -> None:
    """Train without a twentieth of train, all of whose entities are known, and update with it."""
    order = np.random.default_rng(0).permutation(len(graph.train))
    kept, held = graph.train[np.sort(order[: int(0.95 * len(order))])], graph.train[order[int(0.95 * len(order)) :]]
    held = held[np.isin(held[:, [0, 2]], kept[:, [0, 2]]).all(1)]
    full = _timed("train on all", lambda: train(graph, clauses, settings))
    less = replace(graph, train=kept, parts={}, literals=None)
    part = _timed("train without 5 % of train", lambda: train(less, clauses, settings))
    asked = [_names(graph, row) for row in graph.test[np.isin(graph.test[:, [0, 2]], held[:, [0, 2]]).any(1)]]
    for passes in refine:
        grown = part.update([_names(graph, row) for row in held], refine=passes)
        mrr, wanted = mrr_of(grown, graph, asked), mrr_of(full, graph, asked)
        print(
            f"  {len(held):,} facts between known entities told, --refine {passes}: "
            f"MRR {mrr:.4f} of {len(asked):,} test facts about them, trained on all {wanted:.4f}"
        )


def hold_out_facts(graph: Graph, clauses: list[Clause], settings: Settings) -> None:
    """Train without a tenth of train, then on all of it from there for a fifth of the epochs, and all over."""
    order = np.random.default_rng(0).permutation(len(graph.train))
    part = replace(graph, train=graph.train[np.sort(order[: int(0.9 * len(order))])], parts={}, literals=None)
    fewer = -(-settings.train.epochs // 5)
    short = Settings.from_mapping(
        {**settings.model_dump(exclude_none=True), "train": {**settings.train.model_dump(), "epochs": fewer}}
    )
    early = _timed("train without 10 % of train", lambda: train(part, clauses, settings))
    full = _timed("train on all", lambda: train(graph, clauses, settings))
    warm = _timed("train on all from there", lambda: train(graph, clauses, short, start=early))
    cold = train(graph, clauses, short)
    for what, run in (("before", early), ("all over", full), ("from there", warm), ("as short, from nothing", cold)):
        print(f"  {what}, {run.metrics['training']['epochs']} epochs: valid MRR {_valid(run):.4f}")


def measure_precision(graph: Graph, clauses: list[Clause], settings: Settings) -> None:
    """Search all pairs that train and valid do not have, and see which of them test has."""
    run = train(graph, clauses, settings)
    assert run.calibration is not None
    sizes = len(graph.entities), len(graph.relations)
    known = SortedFacts(np.concatenate([graph.train, graph.valid]), *sizes)
    test = SortedFacts(graph.test, *sizes)
    found = complete(
        run.predictor.with_table(),
        run.calibration,
        known.has,
        relations=range(len(graph.relations)),
        least=0.5,
        limit=5_000_000,
    )
    true = test.has(found.facts)
    for least in (0.5, 0.9, 0.95, 0.98):
        here = found.probabilities >= least
        if here.any():
            share, hit = true[here].mean(), true[here].sum() / len(graph.test)
            print(
                f"  probability ≥ {least}: {here.sum():,} facts, {share:.1%} of them and {hit:.1%} of test in test; "
                f"stated {found.probabilities[here].mean():.3f}"
            )
    named = run.complete(min_probability=0.5, limit=5_000_000, proofs=False)
    stated = np.array([np.nan if one.precision is None else one.precision for one in named])
    print(f"  precision stated by valid: {np.nanmean(stated):.1%} on average over {len(named):,} facts")
    for first in (100, 1_000, 10_000):
        if len(found.facts) >= first:
            print(f"  the first {first:,}: {true[:first].mean():.1%} in test")


def without_entities(graph: Graph, share: float = 0.05, seed: int = 0) -> tuple[Graph, list[Any], Any, set[str]]:
    """Hold out entities: the graph without them, their train facts by name, and test facts of those with enough."""
    degree = np.bincount(graph.train[:, [0, 2]].ravel(), minlength=len(graph.entities))
    rng = np.random.default_rng(seed)
    hidden = rng.choice(np.flatnonzero(degree >= 1), int(share * len(graph.entities)), replace=False)
    mask = np.isin(np.arange(len(graph.entities)), hidden)
    own = np.cumsum(~mask) - 1

    def kept(facts: Any) -> Any:
        rows = facts[~mask[facts[:, [0, 2]]].any(1)]
        return np.stack([own[rows[:, 0]], rows[:, 1], own[rows[:, 2]]], 1).astype(np.int32)

    names = Names([name for name, out in zip(graph.entities, mask, strict=True) if not out], "entity")
    known = replace(
        graph,
        entities=names,
        train=kept(graph.train),
        valid=kept(graph.valid),
        test=kept(graph.test),
        parts={},
        literals=None,
    )
    enough = mask & (degree >= LEAST_FACTS)
    told = [_names(graph, row) for row in graph.train[mask[graph.train[:, [0, 2]]].any(1)]]
    asked = [_names(graph, row) for row in graph.test[enough[graph.test[:, [0, 2]]].any(1)]]
    return known, told, asked, {graph.entities[one] for one in np.flatnonzero(enough).tolist()}


def _names(graph: Graph, row: Any) -> tuple[str, str, str]:
    subject, relation, object = row.tolist()
    return graph.entities[subject], graph.relations[relation], graph.entities[object]


def mrr_of(run: Run, graph: Graph, facts: list[tuple[str, str, str]]) -> float:
    """Return the MRR of facts by name, filtered by all facts of a graph that has the same names."""
    own = run.graph.entities.ids(graph.entities)

    def translated(rows: Any) -> Any:
        return np.stack([own[rows[:, 0]], rows[:, 1], own[rows[:, 2]]], 1).astype(np.int32)

    whole = replace(run.graph, valid=translated(graph.valid), test=translated(graph.test), parts={})
    return float(replace(run, graph=whole).evaluate(run.score(facts).facts).filtered["both"]["mrr"])


def _valid(run: Run) -> float:
    return float(run.metrics["valid"]["filtered"]["both"]["mrr"])


def _chosen(name: str | None, preset: str | None, changes: list[str]) -> tuple[Graph, list[Clause], Settings]:
    if name is None:
        graph, clauses = world()
        values = SETTINGS.model_dump(exclude_none=True)
        return graph, clauses, Settings.load(assignments=changes, preset=values)
    return load_graph(name), [], Settings.load(assignments=changes, preset=preset)


def _timed(what: str, work: Callable[[], Any], target: float | None = None) -> Any:
    started, used = time.perf_counter(), time.process_time()
    result = work()
    wall, cpu = time.perf_counter() - started, time.process_time() - used
    verdict = "" if target is None else f", target {target:g} s: {'met' if wall <= target else 'missed'}"
    print(f"{what}: {wall:.2f} s, {cpu:.2f} s of CPU time{verdict}", flush=True)
    return result


if __name__ == "__main__":
    main()
