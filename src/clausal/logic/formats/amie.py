"""AMIE 3 and AMIE+: ``?a  p  ?b  ?b  q  ?c   => ?a  r  ?c`` and its measures in columns, between lines of its log.

RUGE and NeuralKG write a rule as AMIE does, then a tab and the rule's confidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from clausal.errors import InputError
from clausal.logic.formats.rule_file import RuleFile, read_confidence, read_count, read_mined_lines, weighted_clause
from clausal.logic.lines import Misread
from clausal.logic.shape import implication
from clausal.logic.syntax import Atom, Clause, Constant, Formula, Term, Variable

_HEADER = re.compile(r"^Rules?\t.*\b(?:Confidence|Support|Head Coverage)\b.*$", re.IGNORECASE | re.MULTILINE)
_NAMES = {  # names of a column in older versions, then AMIE 3's
    "std confidence": "standard confidence",
    "std. confidence": "standard confidence",
    "confidence": "standard confidence",
    "positive examples": "support",
}
_WITHOUT_HEADER = ("rule", "head coverage", "standard confidence", "pca confidence", "support")

_ITEM = re.compile(r"\S+(?: \S+)*")  # two blanks part the items, so one blank may be part of a name
_WORD = re.compile(r"\S+")
_UNEQUAL = re.compile(r"(?:^|(?<=\s))\?\w+\s*(?:!=|<>)\s*\?\w+(?=\s|$)")
_HEAD = re.compile(r"=>\s*(?:\?\w+\s+\S.*?\s\S+|\S+\s+\S.*?\s\?\w+)\s*$")


def has_header(file: RuleFile) -> bool:
    """Tell whether AMIE's names of columns stand in the file's beginning."""
    return _HEADER.search(file.beginning) is not None


def is_amie_line(line: str) -> bool:
    """Tell whether a line is a rule as AMIE prints it."""
    text, *measures = line.split("\t")
    return _looks_like_rule(text) and len(measures) != 1


def is_ruge_line(line: str) -> bool:
    """Tell whether a line is a rule as AMIE prints it with one number behind it."""
    text, *measures = line.split("\t")
    return _looks_like_rule(text) and len(measures) == 1


def _looks_like_rule(text: str) -> bool:
    """Tell whether the head is three items, one of them a variable ``?a``."""
    return _HEAD.search(text) is not None and "(?" not in text.partition("=>")[2]


def read_amie(file: RuleFile) -> list[Clause]:
    """Read rules; the confidence is the standard one, or PCA confidence where AMIE did not compute it."""
    columns = _columns(file.text)

    def read_line(line: str, number: int) -> tuple[Clause, bool] | None:
        if "=>" not in line:
            return None  # the header, or what AMIE says about itself
        cells = line.split("\t")
        try:
            formula, unequal = _read_rule(cells[0], 1)
        except Misread:
            if len(cells) == 1:
                return None  # a line of the log that happens to have an arrow
            raise
        given = {name: (cell, start) for name, cell, start in zip(columns, cells, _starts(cells), strict=False)}
        confidence = _confidence(given)
        support = _support(given)
        return weighted_clause(formula, file.source, number, confidence, support), unequal

    return _read_and_tell(file, read_line)


def read_ruge(file: RuleFile) -> list[Clause]:
    """Read rules, each with its confidence."""

    def read_line(line: str, number: int) -> tuple[Clause, bool] | None:
        if not line.strip():
            return None
        text, tab, confidence = line.partition("\t")
        if not tab:
            raise Misread(len(line) + 1, "expected a tab and the confidence after the rule")
        formula, unequal = _read_rule(text, 1)
        return weighted_clause(formula, file.source, number, read_confidence(confidence, len(text) + 2)), unequal

    return _read_and_tell(file, read_line)


def _read_and_tell(file: RuleFile, read: Callable[[str, int], tuple[Clause, bool] | None]) -> list[Clause]:
    """Read lines to clauses and whether an inequality was left out, and say in how many rules one was."""
    inequalities = 0

    def read_line(line: str, number: int) -> Clause | None:
        nonlocal inequalities
        found = read(line, number)
        if found is None:
            return None
        clause, unequal = found
        inequalities += unequal
        return clause

    clauses = read_mined_lines(file, read_line)
    if inequalities:
        file.tell(
            f"{file.source}: {inequalities:,} rule{'' if inequalities == 1 else 's'} had a condition such as ?a!=?b, "
            "which a clause cannot say; it was left out, so that the clause also speaks of equal entities"
        )
    return clauses


def _columns(text: str) -> tuple[str, ...]:
    header = _HEADER.search(text)
    if header is None:
        return _WITHOUT_HEADER
    names = [name.strip().lower() for name in header[0].split("\t")]
    if "positive examples" in names:  # then "support" is a share
        names = ["head coverage" if name == "support" else name for name in names]
    return tuple(_NAMES.get(name, name) for name in names)


def _starts(cells: list[str]) -> list[int]:
    """Return the column at which each cell starts, counted from 1."""
    starts = [1]
    for cell in cells:
        starts.append(starts[-1] + len(cell) + 1)
    return starts


def _support(given: dict[str, tuple[str, int]]) -> int | None:
    """Return the number of positive examples; the oldest tables give it as a share of the relation's facts."""
    cell, column = given.get("support", ("", 0))
    return None if not cell.strip() or cell.strip().endswith("%") else read_count(cell, column)


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


def _read_rule(text: str, column: int) -> tuple[Formula, bool]:
    """Return the clause of a rule whose text starts at ``column``, and whether inequalities were left out.

    A clause has no equality to say ``?a!=?b`` with.
    """
    before, arrow, after = text.partition("=>")
    if not arrow or "=>" in after:
        raise Misread(column, "expected a rule with one '=>', as in ?b  p  ?a   => ?a  q  ?b")
    # Blanks in the place of an inequality keep the columns of what follows.
    plain, unequal = _UNEQUAL.subn(lambda found: " " * len(found[0]), before)
    head = _atoms(after, column + len(before) + 2)
    if len(head) != 1:
        raise Misread(column + len(before) + 2, f"expected one atom in the head, as in ?a  q  ?b, found {len(head)}")
    return implication(_atoms(plain, column), head[0]), unequal > 0


def _atoms(text: str, column: int) -> list[Atom]:
    items = list(_ITEM.finditer(text))
    if len(items) % 3 or not all(map(_is_item, items)):
        items = list(_WORD.finditer(text))
    if len(items) % 3:
        raise Misread(
            column + (items[-1].start() if items else 0),
            f"expected triples of subject, relation and object, found {len(items)} items",
        )
    return [
        Atom(
            relation.group(),
            _term(subject, column),
            _term(object, column),
            column + relation.start(),
        )
        for subject, relation, object in zip(items[::3], items[1::3], items[2::3], strict=True)
    ]


def _is_item(item: re.Match[str]) -> bool:
    """Tell whether this is one name: a variable stands alone."""
    return not (item.group().startswith("?") and " " in item.group())


def _term(item: re.Match[str], column: int) -> Term:
    text, place = item.group(), column + item.start()
    if not text.startswith("?"):
        return Constant(text, place)
    try:
        return Variable(text[1:], place)
    except InputError:
        raise Misread(place, f"'{text}' is not a variable; expected a name such as ?a") from None
