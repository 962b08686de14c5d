"""What a report is made of: a run, and what is measured of it for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from clausal.choices import NameStyle
from clausal.errors import RunError
from clausal.evaluation import Classification, Evaluation
from clausal.graph.display import DisplayNames
from clausal.logic.closure import Closure, close
from clausal.logic.measures import Measures, measure_clauses
from clausal.observer import Observer
from clausal.report.certifying import Certified, certify_within
from clausal.run import Run
from clausal.run.directory import RunDirectory

_LARGEST_CLOSURE = 20_000_000  # facts


@dataclass(frozen=True, eq=False)
class Material:
    """A run and what was measured of it; ``left_out`` says what the report does without, and why."""

    run: Run
    names: DisplayNames
    log: Sequence[Mapping[str, Any]] = ()
    split: str | None = None
    evaluation: Evaluation | None = None
    others: Mapping[str, Evaluation] = field(default_factory=dict)
    """The same facts ranked by other rankings that the run has: entailed facts first, votes of rules."""
    classification: Classification | None = None
    closure: Closure | None = None
    measures: Sequence[Measures | None] = ()
    certified: Certified | None = None
    left_out: Sequence[str] = ()


def gather(
    run: Run,
    *,
    certify: bool = True,
    seconds: float = 60.0,
    names: NameStyle = "label",
    observer: Observer | None = None,
) -> Material:
    """Measure a run for its report: rank test, calibrate, close train, and certify clauses for so many seconds."""
    observer, graph, left_out = observer or Observer(), run.graph, []
    run = _without_paths(run)
    log = [] if run.path is None else RunDirectory.open(run.path).read_log()
    if not log:
        left_out.append("Learning curves: the run has no log of its epochs.")
    split = next((name for name in ("test", "valid") if len(graph.splits[name])), None)
    evaluation, classification = None, None
    if split is None:
        left_out.append("Results: the graph has neither test nor valid facts, so nobody knows how good the model is.")
    else:
        evaluation = run.evaluate(split, per_relation=True, ties=run.settings.evaluate.ties, observer=observer)
        if split == "valid":
            left_out.append("Test results: the graph has no test facts. Figures are of valid, which chose the model.")
        classification = run.classify(split)
        if classification.calibration is None:
            left_out.append("Probabilities: there are too few valid facts to calibrate scores by.")
    closure = _closure(run, left_out)
    others = {} if split is None else _others(run, split, closure, observer)
    measures, certified = _about_clauses(run, certify, seconds, observer, left_out)
    left_out += [f"Note on the graph: {note}" for note in graph.notes]
    left_out += _unseen(run)
    shown = graph.display.styled(names)
    return Material(run, shown, log, split, evaluation, others, classification, closure, measures, certified, left_out)


def _without_paths(run: Run) -> Run:
    """Name the files of clauses without their folders, which say nothing to whom a report is sent."""
    named = [
        clause if clause.source is None else replace(clause, source=Path(clause.source).name) for clause in run.clauses
    ]
    return replace(run, clauses=named)


def _closure(run: Run, left_out: list[str]) -> Closure | None:
    if not run.clauses:
        left_out.append("Clauses: the run was trained without any.")
        return None
    try:
        closure = close(run.graph, run.clauses, limit=_LARGEST_CLOSURE)
    except RunError as error:
        left_out.append(f"What follows from train: {error}")
        return None
    left_out += [f"{clause} derives no facts: {reason}." for clause, reason in closure.left_out[:20]]
    return closure


def _others(run: Run, split: str, closure: Closure | None, observer: Observer) -> dict[str, Evaluation]:
    rankings: list[Any] = ["entailed"] * (closure is not None) + ["fused"] * run.is_fused
    return {
        ranking: run.evaluate(split, ranking=ranking, ties=run.settings.evaluate.ties, observer=observer)
        for ranking in rankings
    }


def _about_clauses(
    run: Run, certify: bool, seconds: float, observer: Observer, left_out: list[str]
) -> tuple[list[Measures | None], Certified | None]:
    if not run.clauses:
        return [], None
    measures = measure_clauses(run.clauses, run.graph, observer=observer)
    if not certify:
        left_out.append("Certificates: left out by --no-certify.")
        return measures, None
    certified = certify_within(run, seconds, observer)
    left_out += certified.left_out
    return measures, certified


def _unseen(run: Run) -> list[str]:
    """Say how many entities and relations no train fact has: a model knows nothing of them."""
    graph, train = run.graph, run.graph.train
    entities = len(graph.entities) - len(np.unique(train[:, [0, 2]]))
    relations = len(graph.relations) - len(np.unique(train[:, 1]))
    found = []
    if entities:
        found.append(f"{entities:,} entities are in no fact of train; scores of facts with them mean little.")
    if relations:
        found.append(f"{relations:,} relations have no fact in train; scores of facts with them mean little.")
    return found
