"""What the readers of rule formats share: rules weighted by confidence, and numbers as programs write them."""

from __future__ import annotations

import math

from clausal.logic.lines import Misread
from clausal.logic.syntax import Clause, Formula, Variable

X, Y, Z = Variable("X"), Variable("Y"), Variable("Z")


def rule(
    formula: Formula,
    source: str | None,
    line: int | None,
    confidence: float | None = None,
    support: int | None = None,
) -> Clause:
    """Return a clause whose weight is its confidence, or 1 where there is none."""
    return Clause(formula, 1.0 if confidence is None else confidence, source, line, confidence, support)


def read_confidence(text: str, column: int) -> float:
    """Read a confidence, with a decimal point or a decimal comma."""
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        raise Misread(column, f"a confidence is a number, as in 0.9, not '{text.strip()}'") from None
    if not (math.isfinite(value) and value >= 0):
        raise Misread(column, f"a confidence must be a finite number of at least 0, not {text.strip()}")
    return value


def read_count(text: str, column: int) -> int:
    """Read a count; some programs write it as ``12.0`` or ``12,0``."""
    try:
        return int(text)
    except ValueError:
        try:
            value = float(text.strip().replace(",", "."))
        except ValueError:
            value = math.nan
    if not (math.isfinite(value) and value >= 0 and value == int(value)):
        raise Misread(column, f"a count is a whole number, not '{text.strip()}'")
    return int(value)
