"""Mined rules as a clause file: what a training reads, with the measures as comments for whoever prunes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from clausal.logic.lines import check_new_file, write_lines
from clausal.logic.mining.rule import Measure, MinedRule
from clausal.logic.printer import print_clause


def print_mined(
    rules: Iterable[MinedRule], weight: Measure | None = "confidence", notes: Sequence[str] = ()
) -> Iterator[str]:
    """Yield one line per clause with a confidence as its weight and its measures behind it; ``notes`` come first."""
    for note in notes:
        yield f"% {' '.join(note.split())}"
    for rule in rules:
        yield f"{print_clause(rule.clause(weight))}  % {_describe(rule)}"


def write_mined(
    path: Path, rules: Iterable[MinedRule], weight: Measure | None = "confidence", notes: Sequence[str] = ()
) -> None:
    """Write the rules to a new file, which appears when it is whole."""
    check_new_file(path)
    write_lines(path, print_mined(rules, weight, notes))


def _describe(rule: MinedRule) -> str:
    return (
        f"support {rule.support}, head coverage {rule.head_coverage:.4f}, "
        f"confidence {rule.confidence:.4f}, PCA confidence {rule.pca_confidence:.4f}"
    )
