"""The clause language itself, ``clausal``: what its grammar reads, and one printed line for each clause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clausal.logic.formats.rule_file import RuleFile
from clausal.logic.parser import parse_clauses
from clausal.logic.printer import print_clause
from clausal.logic.syntax import Clause


def read(file: RuleFile) -> list[Clause]:
    """Read clauses; KALE's and Prolog's rules are clauses of the language too."""
    return parse_clauses(file.text, file.source)


def write(clauses: Iterable[Clause]) -> Iterator[str]:
    """Write one line for each clause; what a miner counted stands in a comment behind it."""
    for clause in clauses:
        counted = {"confidence": clause.confidence, "support": clause.support}
        notes = ", ".join(f"{name} {value:g}" for name, value in counted.items() if value is not None)
        yield f"{print_clause(clause)}{f'  % {notes}' if notes else ''}"
