"""What certificates and the check over real entities say together about one clause, in a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from clausal.adversary.reciprocal import Reading
from clausal.errors import InputError
from clausal.graph.display import DisplayNames
from clausal.logic.printer import print_clause
from clausal.logic.syntax import Clause

if TYPE_CHECKING:
    from clausal.run.deciding import DecisionFigures

Verdict = Literal["holds for all", "holds on this graph", "holds for decisions", "violated", "not for all", "unknown"]
REQUIREMENTS = "all, graph, decisions, or a share of the clauses between 0 and 1, such as 0.9"
_HOLDING: dict[str, tuple[Verdict, ...]] = {
    "all": ("holds for all",),
    "graph": ("holds for all", "holds on this graph"),
    "decisions": ("holds for all", "holds on this graph", "holds for decisions"),
}
_MEANING = {"all": "hold for all entities", "decisions": "hold for what the run accepts"}


@dataclass(frozen=True)
class Example:
    """Real entities that violate a clause, by variable, with the value of body and head where it has them.

    ``reading`` is what a reciprocal model scores there: a fact, or an answer to a question for object or subject.
    """

    entities: dict[str, str]
    violation: float
    body: float | None = None
    head: float | None = None
    reading: Reading | None = None

    def __str__(self) -> str:
        return self.text()

    def text(self, names: DisplayNames | None = None) -> str:
        """Return the example as one line, by display names where they are given."""
        shown = {variable: name if names is None else names.entity(name) for variable, name in self.entities.items()}
        assigned = ", ".join(f"{variable} = {name}" for variable, name in shown.items()) or "no variables"
        values = f"body {self.body:.3g}, head {self.head:.3g}, " if self.body is not None else ""
        asked = "" if self.reading in (None, "fact") else f", as answers to questions for the {self.reading}"
        return f"{assigned}: {values}violated by {self.violation:.3g}{asked}"


@dataclass(frozen=True)
class EntityFigures:
    """A clause over all assignments of real entities to its variables."""

    assignments: int
    rate: float
    mean: float
    worst: float
    example: Example | None


@dataclass(frozen=True)
class ClauseCertificate:
    """What is known of one clause: attained ≤ the largest violation over the region ≤ bound, and over real entities.

    ``bound`` is None where no bound is known. ``entities`` is None where they were not checked, and ``unchecked``
    then says why. ``decisions`` are what the run accepts, by its calibrated thresholds, and None where it has none.
    """

    clause: Clause
    attained: float
    bound: float | None
    exact: bool
    method: str
    entities: EntityFigures | None
    unchecked: str | None
    verdict: Verdict
    decisions: DecisionFigures | None = None

    def with_decisions(self, decisions: DecisionFigures | None) -> ClauseCertificate:
        """Return the certificate with what the run accepts: a clause that no accepted fact breaks is not violated."""
        holds = decisions is not None and not decisions.broken and self.verdict == "violated"
        return replace(self, decisions=decisions, verdict="holds for decisions" if holds else self.verdict)

    @property
    def gap(self) -> float | None:
        """The relative gap between attained and bound; 0 where both are 0."""
        if self.bound is None:
            return None
        return max(0.0, self.bound - self.attained) / self.bound if self.bound > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the clause's object in the JSON of ``clausal certify``."""
        found, example = self.entities, self.entities.example if self.entities else None
        return {
            "clause": str(self.clause),
            "verdict": self.verdict,
            "attained": self.attained,
            "bound": self.bound,
            "gap": self.gap,
            "exact": self.exact,
            "method": self.method,
            "entities": found and {
                "assignments": found.assignments,
                "rate": found.rate,
                "mean": found.mean,
                "worst": found.worst,
                "example": example and {
                    "entities": example.entities,
                    "body": example.body,
                    "head": example.head,
                    "violation": example.violation,
                    **({} if example.reading is None else {"reading": example.reading}),
                },
            },
            "unchecked": self.unchecked,
            "decisions": self.decisions and self.decisions.to_dict(),
        }  # fmt: skip


def verdict(attained: float, bound: float | None, worst: float | None, tolerance: float) -> Verdict:
    """Judge a clause by its interval over the region and, if known, its largest violation over real entities.

    Entities come first: a region of roles does not hold all of them, so they can violate what holds in it.
    """
    if worst is not None and worst > tolerance:
        return "violated"
    if bound is not None and bound <= tolerance:
        return "holds for all"
    if worst is not None:
        return "holds on this graph"
    return "not for all" if attained > tolerance else "unknown"


def unmet(requirement: str, certificates: Sequence[ClauseCertificate], names: DisplayNames | None = None) -> str | None:
    """Return one sentence that says which clauses keep a requirement from being met, or None where it is met."""
    share = _share(requirement)
    holding = _HOLDING["graph" if share is not None else requirement]
    decided = requirement == "decisions"
    failing = [
        one
        for one in certificates
        if one.verdict not in holding or (decided and one.decisions and one.decisions.broken)
    ]
    if len(certificates) - len(failing) >= (1.0 if share is None else share) * len(certificates):
        return None
    meaning = _MEANING.get(requirement, "hold on this graph")
    return (
        f"--require {requirement}: {len(failing):,} of {len(certificates):,} clauses are not known to {meaning}: "
        + ("; ".join(f"{print_clause(one.clause, names)} ({one.verdict})" for one in failing))
    )


def check_requirement(requirement: str) -> None:
    """Refuse what is no requirement, before anything is computed."""
    if requirement not in _HOLDING:
        _share(requirement)


def _share(requirement: str) -> float | None:
    if requirement in _HOLDING:
        return None
    try:
        share = float(requirement)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(f"--require {requirement}: expected {REQUIREMENTS}")
    return share
