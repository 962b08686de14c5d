"""Clauses with the confidence that they have in a graph as their weight, so that one with exceptions asks for less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clausal.logic.measures.measure import Measures
from clausal.logic.syntax import Clause


def weigh_clauses(clauses: Sequence[Clause], measured: Sequence[Measures | None]) -> list[Clause]:
    """Set each weight to the clause's standard confidence, to four digits; clauses without one keep theirs."""
    return [
        clause if confidence is None else replace(clause, weight=round(confidence, 4))
        for clause, confidence in zip(clauses, _confidences(measured), strict=True)
    ]


def confident_clauses(
    clauses: Sequence[Clause], measured: Sequence[Measures | None], least: float
) -> tuple[list[Clause], list[Measures | None]]:
    """Return the clauses, with their measures, whose confidence is at least this, and those that have none."""
    kept = [
        (clause, measures)
        for clause, measures, confidence in zip(clauses, measured, _confidences(measured), strict=True)
        if confidence is None or confidence >= least
    ]
    return [clause for clause, _ in kept], [measures for _, measures in kept]


def _confidences(measured: Sequence[Measures | None]) -> list[float | None]:
    return [None if measures is None else measures.confidence for measures in measured]
