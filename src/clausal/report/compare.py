"""Several runs on one graph: what differs in their settings, how much better which one is, and for which facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.choices import RankingName
from clausal.config import Settings
from clausal.errors import InputError
from clausal.evaluation import Evaluation
from clausal.evaluation.bootstrap import bootstrap_means
from clausal.evaluation.evaluate import find_facts
from clausal.evaluation.ranks import Ranks
from clausal.graph.facts import occur_in
from clausal.graph.graph import Graph
from clausal.graph.query import Fact, name_fact
from clausal.observer import Observer
from clausal.report.same_graph import require_same_graph
from clausal.run import Run

Measure = Callable[[NDArray[np.float64]], NDArray[np.float64]]
MEASURES: dict[str, Measure] = {
    "mrr": lambda ranks: 1.0 / ranks,
    "hits@1": lambda ranks: (ranks <= 1).astype(np.float64),
    "hits@3": lambda ranks: (ranks <= 3).astype(np.float64),
    "hits@10": lambda ranks: (ranks <= 10).astype(np.float64),
}
_INTERVAL = (2.5, 97.5)  # percentiles


class Difference(NamedTuple):
    """How much more of a metric a run has than the first, with a 95 % interval by a paired bootstrap over facts."""

    value: float
    low: float
    high: float


class Measured(NamedTuple):
    """A run on the split or on a part of it; ``differences`` is empty for the first run."""

    run: str
    part: str
    facts: int
    metrics: dict[str, float]
    differences: dict[str, Difference]


class Moved(NamedTuple):
    """A fact whose rank, with its subject or its object hidden, differs between the first run and another."""

    run: str
    fact: Fact
    hidden: str
    before: float
    after: float


@dataclass(frozen=True, eq=False)
class RunComparison:
    """Runs on one graph, by their labels; all is against the first of them."""

    labels: Sequence[str]
    graph: str
    split: str
    ranking: str
    settings: Sequence[dict[str, Any]]
    measured: Sequence[Measured]
    moved: Sequence[Moved]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``clausal compare --format json`` prints."""
        return {
            "runs": list(self.labels),
            "graph": self.graph,
            "split": self.split,
            "ranking": self.ranking,
            "settings": list(self.settings),
            "metrics": [
                {**one._asdict(), "differences": {name: found._asdict() for name, found in one.differences.items()}}
                for one in self.measured
            ],
            "moved": [{**one._asdict(), "fact": one.fact._asdict()} for one in self.moved],
        }

    def _repr_html_(self) -> str:
        from clausal.drawing import notebook
        from clausal.report.side_by_side import comparison_html

        return notebook(comparison_html(self))


def compare_runs(
    runs: Sequence[Run],
    labels: Sequence[str] | None = None,
    *,
    split: str = "test",
    ranking: RankingName = "model",
    most: int = 10,
    observer: Observer | None = None,
) -> RunComparison:
    """Compare runs on a split of their one graph; ``most`` bounds the facts named that gained, and that lost."""
    if len(runs) < 2:
        raise InputError("a comparison takes two runs or more")
    labels = labels_of(runs) if labels is None else labels
    first = runs[0]
    for run, label in zip(runs[1:], labels[1:], strict=True):
        require_same_graph(first.graph, run.graph, labels[0], label)
    facts, _ = find_facts(first.graph, split)  # in one order for all
    evaluations = [run.evaluate(facts, ranking=ranking, ties="realistic", observer=observer) for run in runs]
    places = {split: np.arange(len(facts)), **_places_of_parts(first.graph, split)}
    parts = [{part: one.ranks.take(index) for part, index in places.items()} for one in evaluations]
    measured = [
        _measured(label, part, ranks, parts[0][part] if place else None)
        for part in parts[0]
        for place, (label, ranks) in enumerate(zip(labels, (one[part] for one in parts), strict=True))
    ]
    moved = [
        one
        for label, evaluation in zip(labels[1:], evaluations[1:], strict=True)
        for one in _moved(first, split, label, evaluations[0], evaluation, most)
    ]
    settings = [*setting_rows(runs, labels), *_clause_rows(runs, labels)]
    return RunComparison(labels, first.graph.name, split, evaluations[0].ranking, settings, measured, moved)


def _places_of_parts(graph: Graph, split: str) -> dict[str, NDArray[np.int64]]:
    """Return where the facts of each part of test stand in test; no other split has parts."""
    sizes = len(graph.entities), len(graph.relations)
    parts = {name: part for name, part in graph.parts.items() if len(part)} if split == "test" else {}
    return {name: np.flatnonzero(occur_in(graph.test, part, *sizes)) for name, part in parts.items()}


def labels_of(runs: Sequence[Run]) -> list[str]:
    """Return a label for each run: the name of its directory, or its path or number where names are the same."""
    names = ["" if run.path is None else run.path.name for run in runs]
    paths = ["" if run.path is None else str(run.path) for run in runs]
    chosen = names if len(set(names)) == len(runs) and all(names) else paths
    if len(set(chosen)) == len(runs) and all(chosen):
        return chosen
    return [
        f"{place}. {name or run.settings.model.scorer}"
        for place, (name, run) in enumerate(zip(names, runs, strict=True), 1)
    ]


def _measured(label: str, part: str, ranks: Ranks, first: Ranks | None) -> Measured:
    by_fact = {name: _by_fact(ranks, measure) for name, measure in MEASURES.items()}
    differences = {}
    if first is not None:
        differences = {
            name: _difference(by_fact[name] - _by_fact(first, measure)) for name, measure in MEASURES.items()
        }
    return Measured(label, part, len(ranks), {name: float(one.mean()) for name, one in by_fact.items()}, differences)


def _by_fact(ranks: Ranks, measure: Measure) -> NDArray[np.float64]:
    """Return a metric of each fact, the mean over its two sides."""
    return (measure(ranks.of("filtered", "subject")) + measure(ranks.of("filtered", "object"))) / 2


def _difference(differences: NDArray[np.float64]) -> Difference:
    low, high = np.percentile(bootstrap_means(differences), _INTERVAL)
    return Difference(float(differences.mean()), float(low), float(high))


def _moved(run: Run, split: str, label: str, first: Evaluation, other: Evaluation, most: int) -> list[Moved]:
    """Return the facts that gained the most by the other run, then those that lost the most, by 1 / rank."""
    facts = run.graph.splits[split]
    before, after = first.ranks.of("filtered", "both"), other.ranks.of("filtered", "both")
    gains = 1 / after - 1 / before
    order = np.argsort(-gains, kind="stable")
    best = [place for place in order[:most] if gains[place] > 0]
    worst = [place for place in order[::-1][:most] if gains[place] < 0]
    return [
        Moved(
            label,
            name_fact(run.graph, facts[place % len(facts)]),
            "subject" if place < len(facts) else "object",
            float(before[place]),
            float(after[place]),
        )
        for place in [*best, *worst]
    ]


def setting_rows(runs: Sequence[Run], labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return the settings that are not the same in all runs, with the value of each."""
    rows = []
    for section in Settings.model_fields:
        parts = [getattr(run.settings, section) for run in runs]
        for name in type(parts[0]).model_fields:
            values = [getattr(part, name) for part in parts]
            if any(value != values[0] for value in values):
                rows.append({"setting": f"{section}.{name}", **dict(zip(labels, map(str, values), strict=True))})
    return rows


def _clause_rows(runs: Sequence[Run], labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return how many clauses the runs have, and whether they vote, where that is not the same in all."""
    clauses = [tuple(map(str, run.clauses)) for run in runs]
    rows: list[dict[str, Any]] = []
    if len(set(clauses)) > 1:
        shared = set(clauses[0]).intersection(*clauses)
        values = [f"{len(one):,}, of which {len(set(one) & shared):,} in all" for one in clauses]
        rows.append({"setting": "clauses", **dict(zip(labels, values, strict=True))})
    votes = ["yes" if run.is_fused else "no" for run in runs]
    if len(set(votes)) > 1:
        rows.append({"setting": "rules vote", **dict(zip(labels, votes, strict=True))})
    return rows
