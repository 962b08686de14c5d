"""ComplEx-NNE+AER: ``r1,r2 TAB confidence`` for r1(X, Y) ⇒ r2(X, Y); ``-r1`` is the inverse of r1."""

from __future__ import annotations

import re

from clausal.logic.formats.rule_file import RuleFile, X, Y, read_confidence, read_mined_lines, weighted_clause
from clausal.logic.lines import Misread
from clausal.logic.shape import implication
from clausal.logic.syntax import Atom, Clause

_LINE = re.compile(r"-?[^\t(),]+,[^\t(),]+\t[0-9.,eE+-]+\s*$")


def fits_line(line: str) -> bool:
    """Tell whether a line is two relations and a number."""
    return _LINE.match(line) is not None


def read(file: RuleFile) -> list[Clause]:
    """Read entailments, each with its confidence."""

    def read_line(line: str, number: int) -> Clause | None:
        if not line.strip():
            return None
        pair, tab, confidence = line.partition("\t")
        body, comma, head = pair.partition(",")
        if not (tab and comma and body.strip("- ") and head.strip()):
            raise Misread(1, "expected two relations with a comma, a tab and a confidence, as in r1,r2 TAB 0.9")
        inverse = body.startswith("-")
        subject, object = (Y, X) if inverse else (X, Y)
        atom = Atom(body[inverse:].strip(), subject, object, 1 + inverse)
        formula = implication([atom], Atom(head.strip(), X, Y, len(body) + 2))
        return weighted_clause(formula, file.source, number, read_confidence(confidence, len(pair) + 2))

    return read_mined_lines(file, read_line)
