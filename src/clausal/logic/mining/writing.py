"""Mined rules as a clause file: what a training reads, with the measures as comments for whoever prunes it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from clausal.errors import InputError, RunError
from clausal.logic.mining.rule import Measure, MinedRule
from clausal.logic.printer import print_clause


def print_mined(rules: Iterable[MinedRule], weight: Measure | None = "confidence", notes: Sequence[str] = ()) -> str:
    """Write one clause per line with a confidence as its weight and its measures behind it; ``notes`` come first."""
    lines = [f"% {' '.join(note.split())}" for note in notes]
    lines += [f"{print_clause(rule.clause(weight))}  % {_describe(rule)}" for rule in rules]
    return "".join(f"{line}\n" for line in lines)


def write_mined(
    path: Path, rules: Iterable[MinedRule], weight: Measure | None = "confidence", notes: Sequence[str] = ()
) -> None:
    """Write the rules to a new file, which appears when it is whole."""
    check_new_file(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(print_mined(rules, weight, notes), encoding="utf-8", newline="\n")
        temporary.replace(path)
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror or error}; nothing was left behind") from None
    finally:
        temporary.unlink(missing_ok=True)


def check_new_file(path: Path) -> None:
    """Refuse a file that is there already, as someone may have pruned it by hand, and a folder that is not there."""
    if path.exists():
        raise InputError(f"{path}: exists already; choose another file, or remove this one")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")


def _describe(rule: MinedRule) -> str:
    return (
        f"support {rule.support}, head coverage {rule.head_coverage:.4f}, "
        f"confidence {rule.confidence:.4f}, PCA confidence {rule.pca_confidence:.4f}"
    )
