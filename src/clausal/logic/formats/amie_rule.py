"""The text of a rule as AMIE prints it, and RUGE and NeuralKG after it: ``?b  p  ?a   => ?a  q  ?b``."""

from __future__ import annotations

import re

from clausal.errors import InputError
from clausal.logic.formats.rule_file import RuleFile
from clausal.logic.lines import Misread
from clausal.logic.shape import implication
from clausal.logic.syntax import Atom, Constant, Formula, Term, Variable

_ITEM = re.compile(r"\S+(?: \S+)*")  # two blanks part the items, so one blank may be part of a name
_WORD = re.compile(r"\S+")
_UNEQUAL = re.compile(r"(?:^|(?<=\s))\?\w+\s*(?:!=|<>)\s*\?\w+(?=\s|$)")
_HEAD = re.compile(r"=>\s*(?:\?\w+\s+\S.*?\s\S+|\S+\s+\S.*?\s\?\w+)\s*$")


def looks_like_rule(text: str) -> bool:
    """Tell whether a cell is a rule in this notation: its head is three items, one of them a variable ``?a``."""
    return _HEAD.search(text) is not None and "(?" not in text.partition("=>")[2]


def read_rule(text: str, column: int) -> tuple[Formula, int]:
    """Return the clause of a rule whose text starts at ``column``, and how many inequalities were left out.

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
    return implication(_atoms(plain, column), head[0]), unequal


def tell_of_inequalities(file: RuleFile, rules: int) -> None:
    """Say that conditions such as ``?a!=?b`` were left out, where they were."""
    if rules:
        file.tell(
            f"{file.source}: {rules:,} rule{'' if rules == 1 else 's'} had a condition such as ?a!=?b, which a clause "
            "cannot say; it was left out, so that the clause also speaks of equal entities"
        )


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
