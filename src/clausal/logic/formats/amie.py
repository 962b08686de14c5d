"""AMIE 3 and AMIE+: ``?a  p  ?b  ?b  q  ?c   => ?a  r  ?c`` and its measures in columns, between lines of its log."""

from __future__ import annotations

import re

from clausal.logic.formats.amie_rule import read_rule, tell_of_inequalities
from clausal.logic.formats.building import read_confidence, read_count, rule
from clausal.logic.formats.rule_file import RuleFile
from clausal.logic.lines import LINE_END, Misread, read_lines
from clausal.logic.syntax import Clause

HEADER = re.compile(r"Rule\tHead Coverage\t", re.IGNORECASE)

_NAMES = {  # AMIE+'s name of a column, then AMIE 3's
    "std confidence": "standard confidence",
    "positive examples": "support",
}
_WITHOUT_HEADER = ("rule", "head coverage", "standard confidence", "pca confidence", "support")


def read(file: RuleFile) -> list[Clause]:
    """Read rules; the confidence is the standard one, or PCA confidence where AMIE did not compute it."""
    columns = _columns(file.text)
    inequalities = 0

    def read_line(line: str, number: int) -> Clause | None:
        nonlocal inequalities
        if "=>" not in line:
            return None  # the header, or what AMIE says about itself
        cells = line.split("\t")
        formula, unequal = read_rule(cells[0], 1)
        inequalities += unequal > 0
        given = {name: (cell, start) for name, cell, start in zip(columns, cells, _starts(cells), strict=False)}
        confidence = _confidence(given)
        support = read_count(*given["support"]) if "support" in given else None
        return rule(formula, file.source, number, confidence, support)

    clauses = read_lines(file.text, file.source, read_line)
    tell_of_inequalities(file, inequalities)
    return clauses


def _columns(text: str) -> tuple[str, ...]:
    header = HEADER.search(text)
    if header is None:
        return _WITHOUT_HEADER
    names = LINE_END.split(text[header.start() : header.start() + 1000])[0].split("\t")
    return tuple(_NAMES.get(name, name) for name in (name.strip().lower() for name in names))


def _starts(cells: list[str]) -> list[int]:
    """Return the column at which each cell starts, counted from 1."""
    starts = [1]
    for cell in cells:
        starts.append(starts[-1] + len(cell) + 1)
    return starts


def _confidence(given: dict[str, tuple[str, int]]) -> float | None:
    for name in ("standard confidence", "pca confidence"):
        cell, column = given.get(name, ("", 0))
        if not cell.strip():
            continue
        try:
            return read_confidence(cell, column)
        except Misread:
            if cell.strip().casefold() not in ("nan", "-1", "-1.0", "-1,0"):  # not computed
                raise
    return None
