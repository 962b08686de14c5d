"""RUGE and NeuralKG: AMIE's text of a rule, a tab, and the rule's confidence."""

from __future__ import annotations

from clausal.logic.formats.amie_rule import read_rule, tell_of_inequalities
from clausal.logic.formats.building import read_confidence, rule
from clausal.logic.formats.rule_file import RuleFile
from clausal.logic.lines import Misread, read_lines
from clausal.logic.syntax import Clause


def read(file: RuleFile) -> list[Clause]:
    """Read rules, each with its confidence."""
    inequalities = 0

    def read_line(line: str, number: int) -> Clause | None:
        nonlocal inequalities
        if not line.strip():
            return None
        text, tab, confidence = line.partition("\t")
        if not tab:
            raise Misread(len(line) + 1, "expected a tab and the confidence after the rule")
        formula, unequal = read_rule(text, 1)
        inequalities += unequal > 0
        return rule(formula, file.source, number, read_confidence(confidence, len(text) + 2))

    clauses = read_lines(file.text, file.source, read_line)
    tell_of_inequalities(file, inequalities)
    return clauses
