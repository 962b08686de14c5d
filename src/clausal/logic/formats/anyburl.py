"""AnyBURL and PyClause: ``predictions TAB support TAB confidence TAB h(X,Y) <= b(X,A), c(A,Y)``, without quotes.

Read directly rather than by the grammar: such files hold millions of rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from string import ascii_uppercase
from sys import intern

from clausal.logic.formats.rule_file import (
    LARGEST_COUNT,
    RuleFile,
    cannot_write,
    horn_parts_of,
    read_confidence,
    read_count,
    read_mined_lines,
    weighted_clause,
)
from clausal.logic.lines import Misread
from clausal.logic.shape import implication
from clausal.logic.syntax import Atom, Clause, Constant, Falsum, Formula, Term, Variable

_LINE = re.compile(r"\d+\t\d+\t[-+0-9.,eE]+\t.*\) ?<=(?: |$)")

_ARROW = re.compile(r" ?<=(?: |$)")
_BETWEEN = re.compile(r"\), ?")
_EXPECTED = "expected four columns with tabs: predictions, support, confidence and a rule such as h(X,Y) <= b(X,Y)"
_VARIABLES = {letter: Variable(letter) for letter in ascii_uppercase}
_ITSELF = "me_myself_i"  # AnyBURL's equality token: the other argument of the atom once more
_FREE = [letter for letter in ascii_uppercase if letter not in "XY"]


def fits_line(line: str) -> bool:
    """Tell whether a line is three numbers and a rule."""
    return _LINE.match(line) is not None


def read(file: RuleFile) -> list[Clause]:
    """Read rules; a single upper-case letter is a variable, ``me_myself_i`` the other argument, all else a constant."""
    source = file.source

    def read_line(line: str, number: int) -> Clause | None:
        cells = line.split("\t", 3)
        if len(cells) < 4:
            if not line.strip():
                return None
            raise Misread(1, _EXPECTED)
        predictions, support, confidence, text = cells
        start = len(line) - len(text) + 1
        try:
            predicted, supported, confident = int(predictions), int(support), float(confidence)
        except ValueError:
            confident = -1.0
        if not (0 <= confident < float("inf") and 0 <= predicted <= LARGEST_COUNT and 0 <= supported <= LARGEST_COUNT):
            predicted = read_count(predictions, 1)
            supported = read_count(support, len(predictions) + 2)
            confident = read_confidence(confidence, start - len(confidence) - 1)
        # A rule that was not counted is written with no predictions.
        return weighted_clause(_formula(text, start), source, number, confident, supported if predicted else None)

    return read_mined_lines(file, read_line)


def _formula(text: str, start: int) -> Formula:
    arrow = _ARROW.search(text)
    if arrow is None:
        raise Misread(start, "expected a rule with '<=', as in h(X,Y) <= b(X,Y)")
    head = _atom(text[: arrow.start()].rstrip().removesuffix(")"), start)
    body = text[arrow.end() :].rstrip()
    if not body:
        return head
    column = start + arrow.end()
    if not body.endswith(")"):
        raise Misread(column + len(body), "expected ')' at the end of the rule")
    atoms = []
    position = 0
    for between in _BETWEEN.finditer(body):
        atoms.append(_atom(body[position : between.start()], column + position))
        position = between.end()
    atoms.append(_atom(body[position:-1], column + position))
    return implication(atoms, head)


def _atom(text: str, column: int) -> Atom:
    """Read ``relation(subject,object`` without its last bracket; names may hold brackets and commas."""
    relation, bracket, arguments = text.partition("(")
    subject, comma, object = arguments.rpartition(",")
    if object not in _VARIABLES:
        first, _, rest = arguments.partition(",")
        if first in _VARIABLES:  # so the commas belong to the object's name
            subject, object = first, rest
    if not (relation and bracket and comma and subject and object):
        raise Misread(column, f"expected an atom such as h(X,Y), found '{text}'")
    if _ITSELF in (subject, object):
        if subject == object:
            raise Misread(column, f"'{_ITSELF}' stands for the atom's other argument, and here it is both")
        subject = object = object if subject == _ITSELF else subject
    place = column + len(relation) + 1
    # Few relations and entities occur in many rules: one string for each name halves the memory.
    return Atom(intern(relation), _term(subject, place), _term(object, place + len(subject) + 1), column)


def _term(name: str, column: int) -> Term:
    return _VARIABLES.get(name) or Constant(intern(name), column)


def write(clauses: Iterable[Clause]) -> Iterator[str]:
    """Write one line for each clause; what was not counted has 0 predictions, and its weight as confidence."""
    for clause in clauses:
        body, head = horn_parts_of(clause, "AnyBURL")
        if isinstance(head, Falsum):
            raise cannot_write(clause, "AnyBURL has no integrity constraints")
        letters = _letters(clause, head, body)
        atoms = [_written(clause, atom, letters) for atom in (head, *body)]
        confidence = clause.weight if clause.confidence is None else clause.confidence
        support = clause.support or 0
        predictions = round(support / confidence) if confidence else 0
        yield f"{predictions}\t{support}\t{confidence!r}\t{atoms[0]} <= {', '.join(atoms[1:])}"


def _letters(clause: Clause, head: Atom, body: Iterable[Atom]) -> dict[Term, str]:
    """Give the head's subject and object the letters X and Y, and the other variables A, B, C …"""
    letters: dict[Term, str] = {}
    for term, letter in zip(head.terms, "XY", strict=True):
        letters.setdefault(term, letter)
    free = iter(_FREE)
    for term in (term for atom in body for term in atom.terms if isinstance(term, Variable)):
        if term not in letters:
            letters[term] = next(free, "")
            if not letters[term]:
                raise cannot_write(clause, f"AnyBURL has {len(_FREE) + 2} letters for variables")
    return letters


def _written(clause: Clause, atom: Atom, letters: dict[Term, str]) -> str:
    subject, object = (Variable(letters[term]) if isinstance(term, Variable) else term for term in atom.terms)
    text = f"{atom.relation}({subject.name},{object.name})"
    try:
        same = _atom(text[:-1], 1) == Atom(atom.relation, subject, object)
    except Misread:
        same = False
    if not same or not text.isprintable() or _BETWEEN.search(text) or _ARROW.search(text):
        raise cannot_write(clause, f"AnyBURL has no quotes, so that '{text}' would be read otherwise")
    return text
