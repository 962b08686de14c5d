"""Certificates of decisions: of the facts that a run accepts, how many break a clause, and which, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from clausal.errors import InputError, count
from clausal.evaluation import Calibration, Known
from clausal.evaluation.consistency import closed_rows
from clausal.evaluation.consistency.facts import fact_scores
from clausal.evaluation.decisions import Accepted, Decided, Margins, RowsOf, decide, thresholds_of
from clausal.evaluation.protocol import scoring
from clausal.graph.display import DisplayNames
from clausal.graph.graph import Graph
from clausal.logic import check_clauses
from clausal.logic.printer import print_clause
from clausal.logic.syntax import Clause
from clausal.model.predictor import LinkPredictor
from clausal.observer import Observer

if TYPE_CHECKING:
    from clausal.run.run import Run

NO_CALIBRATION = (
    "the run has no calibration, so it accepts and rejects nothing: its graph has fewer than 20 valid facts; "
    "train with more of them, such as --valid 0.1"
)


@dataclass(frozen=True)
class DecisionExample:
    """Entities by variable that break a clause, and how far body and head are from their thresholds."""

    entities: dict[str, str]
    body: float
    head: float | None

    def text(self, names: DisplayNames | None = None) -> str:
        """Return the example as one line, by display names where they are given."""
        shown = {variable: name if names is None else names.entity(name) for variable, name in self.entities.items()}
        assigned = ", ".join(f"{variable} = {name}" for variable, name in shown.items()) or "no variables"
        if self.head is None:
            return f"{assigned}: all accepted, the weakest by {self.body:.3g}"
        return f"{assigned}: body accepted by {self.body:.3g}, head rejected by {-self.head:.3g}"

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True)
class DecisionFigures:
    """How many bodies of a clause are accepted, how many of these break it, and the worst."""

    accepted: int
    broken: int
    examples: tuple[DecisionExample, ...] = ()

    @property
    def share(self) -> float:
        """The share of accepted bodies that break the clause."""
        return self.broken / self.accepted if self.accepted else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return an object for JSON."""
        examples = [{"entities": one.entities, "body": one.body, "head": one.head} for one in self.examples]
        return {"accepted": self.accepted, "broken": self.broken, "share": self.share, "examples": examples}


@dataclass(frozen=True)
class ClauseDecisions:
    """One clause before and after its demands are obeyed; None where it cannot be counted, and ``reason`` says why."""

    clause: Clause
    before: DecisionFigures | None
    after: DecisionFigures | None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the clause's object in the JSON of ``clausal certify --decisions``."""
        return {
            "clause": str(self.clause),
            "before": self.before and self.before.to_dict(),
            "after": self.after and self.after.to_dict(),
            "reason": self.reason,
        }


@dataclass(frozen=True, eq=False)
class Decisions:
    """The decisions of a run about clauses, in their order; ``probability`` is None for the calibrated thresholds."""

    clauses: list[ClauseDecisions]
    probability: float | None

    def __repr__(self) -> str:
        before = sum(one.before.broken for one in self.clauses if one.before)
        return f"<Decisions about {count(len(self.clauses), 'clause')}: {before:,} accepted bodies break one>"

    def to_dict(self) -> dict[str, Any]:
        """Return what ``clausal certify --decisions --format json`` prints."""
        return {"probability": self.probability, "clauses": [one.to_dict() for one in self.clauses]}


def decisions_of(
    run: Run,
    clauses: Sequence[Clause],
    *,
    probability: float | None = None,
    consistent: bool = True,
    observer: Observer | None = None,
) -> Decisions:
    """Count the decisions of a run's model that break clauses; ``consistent`` counts them again once it obeys them."""
    if not clauses:
        raise InputError("the run was trained without clauses; give clauses to decide about: --clauses FILE")
    if run.calibration is None:
        raise InputError(NO_CALIBRATION)
    if probability is not None and not 0 < probability < 1:
        raise InputError(f"a probability must be a number between 0 and 1; got {probability:g}")
    check_clauses(clauses, run.graph.entities, run.graph.relations)
    predictor = run.predictor.with_table()
    with scoring(predictor):
        before = broken_decisions(predictor, run.graph, run.calibration, clauses, probability, observer=observer)
        after: list[Decided] | None = None
        if consistent:
            after = broken_decisions(
                predictor, run.graph, run.calibration, clauses, probability, consistent=True, observer=observer
            )
    found = []
    for place, one in enumerate(before):
        later = None if after is None else _figures(after[place], run.graph)
        found.append(ClauseDecisions(one.clause, _figures(one, run.graph), later, one.reason))
    return Decisions(found, probability)


def broken_decisions(
    predictor: LinkPredictor,
    graph: Graph,
    calibration: Calibration,
    clauses: Sequence[Clause],
    probability: float | None = None,
    *,
    consistent: bool = False,
    observer: Observer | None = None,
) -> list[Decided]:
    """Count for each clause what a model accepts against it, by its own scores or by consistent ones."""
    entities, relations, device = graph.entities, graph.relations, predictor.device
    thresholds = thresholds_of(calibration, len(relations), probability)
    margins = Margins(fact_scores(predictor), thresholds, device)

    def own(relation: int, turned: bool, ids: torch.Tensor) -> torch.Tensor:
        return margins.rows(torch.full_like(ids, relation), torch.full_like(ids, turned, dtype=torch.bool), ids)

    rows: RowsOf = own
    if consistent:
        known = Known(graph.train, len(entities), len(relations))
        rows = closed_rows(margins, clauses, known, entities, relations, device, observer)
    return decide(Accepted(rows, len(entities), device), margins, clauses, entities, relations, observer=observer)


def figures_of(run: Run, clauses: Sequence[Clause], observer: Observer | None) -> list[DecisionFigures | None]:
    """Return what a calibrated run decides about clauses, by its own scores; None where it cannot be counted."""
    found = decisions_of(run, clauses, consistent=False, observer=observer)
    return [one.before for one in found.clauses]


def _figures(found: Decided, graph: Graph) -> DecisionFigures | None:
    if found.reason is not None:
        return None
    examples = (
        DecisionExample({name: graph.entities[id] for name, id in one.entities.items()}, one.body, one.head)
        for one in found.examples
    )
    return DecisionFigures(found.accepted, found.broken, tuple(examples))


def unmet_decisions(found: Decisions, names: DisplayNames | None = None) -> str | None:
    """Return one sentence that names the clauses that decisions break, or None where there are none."""
    failing = [one for one in found.clauses if one.before is None or one.before.broken]
    if not failing:
        return None
    return (
        f"--require decisions: {len(failing):,} of {len(found.clauses):,} clauses are broken by what the run accepts: "
        + "; ".join(print_clause(one.clause, names) for one in failing)
    )
