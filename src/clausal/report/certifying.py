"""Certificates within a time: of as many clauses as it allows, first with the check over real entities."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from clausal.logic.syntax import Clause
from clausal.observer import Observer, Observers
from clausal.run import Certification, ClauseCertificate, Run

_CHECKED_AT_ONCE = 8  # clauses: what a check has found of them is lost where it does not end in time
_BOUNDED_AT_ONCE = 64


class _TimeIsUpError(Exception):
    """Ends a check over entities that takes too long."""


class _Deadline(Observer):
    def __init__(self, end: float) -> None:
        self.end = end

    def message(self, text: str) -> None:
        """Leave messages to the user's observer."""

    def advanced(self, what: str, done: int, total: int | None, unit: str) -> None:
        if time.monotonic() > self.end:
            raise _TimeIsUpError


@dataclass(frozen=True, eq=False)
class Certified:
    """The certificates of a run's clauses by place; None where the time was up, and ``left_out`` says so."""

    clauses: Sequence[ClauseCertificate | None]
    about: Certification | None
    left_out: Sequence[str] = ()

    @property
    def verdicts(self) -> dict[str, int]:
        """How many clauses have which verdict, the strongest first; ``not certified`` are those without time."""
        found = [one for one in self.clauses if one is not None]
        missing = len(self.clauses) - len(found)
        counts = {} if self.about is None else _with(self.about, found).verdicts
        return counts | ({"not certified": missing} if missing else {})


def certify_within(run: Run, seconds: float, observer: Observer | None = None) -> Certified:
    """Certify the clauses of a run, some at a time, until so many seconds have passed.

    Two thirds of the time are for the check over real entities; what comes after that has a bound alone.
    """
    started, clauses = time.monotonic(), list(run.clauses)
    found: list[ClauseCertificate | None] = []
    about, unchecked = None, 0
    while len(found) < len(clauses):
        now, end_of_checks = time.monotonic(), started + 2 / 3 * seconds
        if found and now > started + seconds:
            break
        several = _CHECKED_AT_ONCE if now <= end_of_checks else _BOUNDED_AT_ONCE
        about, checked = _certify(run, clauses[len(found) : len(found) + several], end_of_checks, observer)
        unchecked += 0 if checked else len(about.clauses)
        found += about.clauses
    missing = len(clauses) - len(found)
    left_out = []
    if unchecked:
        left_out.append(
            f"The check of {unchecked:,} clauses over real entities: it takes longer than --seconds allows. "
            "clausal certify checks them all."
        )
    if missing:
        left_out.append(f"Certificates of {missing:,} clauses: the time of --seconds was up.")
    return Certified([*found, *[None] * missing], about, left_out)


def _certify(run: Run, clauses: list[Clause], end: float, observer: Observer | None) -> tuple[Certification, bool]:
    """Certify clauses, over entities too if that ends in time; say whether it did."""
    if time.monotonic() <= end:
        try:
            watching = Observers(observer or Observer(), _Deadline(end))
            return run.certify(clauses, observer=watching), True
        except _TimeIsUpError:
            pass
    return run.certify(clauses, entities=False, observer=observer), False


def _with(about: Certification, found: list[ClauseCertificate]) -> Certification:
    return Certification(found, about.region, about.semantics, about.thresholds, about.tolerance)
