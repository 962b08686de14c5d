"""The clause language as a rule format, and its two dialects: KALE's and Prolog's rules.

The grammar reads all three; each is written in its own way: ``p(X, Y), q(Y, Z) => r(X, Z) <0.9>`` as ``clausal``,
``p(x,y)&&q(y,z)==>r(x,z)`` as ``kale`` and ``r(X, Z) :- p(X, Y), q(Y, Z) <0.9>`` as ``prolog``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, count
from typing import Literal

from clausal.logic.formats.rule_file import RuleFile, cannot_write, horn_parts_of
from clausal.logic.lines import LINE_END
from clausal.logic.names import write_relation
from clausal.logic.parser import parse_clauses
from clausal.logic.printer import print_clause, print_formula, print_mark
from clausal.logic.syntax import And, Atom, Clause, Constant, Falsum, Term, Variable, map_leaves

_KALE_LETTERS = "xyzuvwabcdefghijklmnopqrst"
_PROLOG_LETTERS = _KALE_LETTERS.upper()
_FIGURES = re.compile(r"  % (?:confidence|support) [0-9][^\r\n]*")
_CONFIDENCE = re.compile(r"(?<!PCA )\bconfidence ([0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)")
_SUPPORT = re.compile(r"\bsupport ([0-9]{1,18})\b")


def dialect_of(file: RuleFile) -> Literal["clausal", "kale", "prolog"]:
    """Say which of the three ways of writing the first clause is in; all are read alike."""
    first = next((line for line in file.first_lines if line.lstrip()[0] not in "%#"), "")
    return "kale" if "==>" in first else "prolog" if ":-" in first else "clausal"


def read(file: RuleFile) -> list[Clause]:
    """Read clauses of the language; KALE's and Prolog's rules are clauses of it too.

    Confidence and support that ``clausal mine`` or ``write_clausal`` wrote behind a clause are read as such.
    """
    clauses = parse_clauses(file.text, file.source)
    if not _FIGURES.search(file.text):
        return clauses
    lines = LINE_END.split(file.text)
    return [_with_figures(clause, lines[(clause.line or 1) - 1]) for clause in clauses]


def _with_figures(clause: Clause, line: str) -> Clause:
    comment = _FIGURES.search(line)
    if comment is None:
        return clause
    confidence, support = _CONFIDENCE.search(comment[0]), _SUPPORT.search(comment[0])
    return replace(
        clause,
        confidence=float(confidence[1]) if confidence else None,
        support=int(support[1]) if support else None,
    )


def write_clausal(clauses: Iterable[Clause]) -> Iterator[str]:
    """Write one line for each clause; what a miner counted stands in a comment behind it."""
    for clause in clauses:
        counted = {"confidence": clause.confidence, "support": clause.support}
        notes = ", ".join(f"{name} {value:g}" for name, value in counted.items() if value is not None)
        yield f"{print_clause(clause)}{f'  % {notes}' if notes else ''}"


def write_kale(clauses: Iterable[Clause]) -> Iterator[str]:
    """Write one line for each clause; weights have no place in this format."""
    for clause in clauses:
        body, head = horn_parts_of(clause, "KALE")
        if isinstance(head, Falsum) or not body:
            raise cannot_write(clause, "KALE has rules with a body and a head only")
        letters: dict[Term, str] = {}
        for term in (term for atom in (*body, head) for term in atom.terms):
            if isinstance(term, Constant):
                raise cannot_write(clause, "KALE has no constants")
            if term not in letters:
                if len(letters) == len(_KALE_LETTERS):
                    raise cannot_write(clause, f"KALE has {len(_KALE_LETTERS)} letters for variables")
                letters[term] = _KALE_LETTERS[len(letters)]
        yield "&&".join(_kale_atom(clause, atom, letters) for atom in body) + f"==>{_kale_atom(clause, head, letters)}"


def _kale_atom(clause: Clause, atom: Atom, letters: dict[Term, str]) -> str:
    if write_relation(atom.relation) != atom.relation:
        raise cannot_write(clause, f"KALE has no quotes, which the name '{atom.relation}' needs")
    return f"{atom.relation}({letters[atom.subject]},{letters[atom.object]})"


def write_prolog(clauses: Iterable[Clause]) -> Iterator[str]:
    """Write one line for each clause: the head first, variables in upper case, the mark or weight last."""
    for clause in clauses:
        body, head = horn_parts_of(_with_upper_case_variables(clause), "Prolog")
        text = "" if isinstance(head, Falsum) else print_formula(head)
        if body:
            text += f"{' ' if text else ''}:- {print_formula(And(body) if len(body) > 1 else body[0])}"
        yield text + print_mark(clause)


def _with_upper_case_variables(clause: Clause) -> Clause:
    """Give the variables that Prolog would not read as such, like ``?who``, letters that are not taken."""
    variables = dict.fromkeys(term for atom in clause.atoms for term in atom.terms if isinstance(term, Variable))
    taken = {variable.name for variable in variables}
    letters = chain(_PROLOG_LETTERS, (f"X{number}" for number in count(1)))
    free = (letter for letter in letters if letter not in taken)
    names = {variable: variable if variable.name[0].isupper() else Variable(next(free)) for variable in variables}

    def rename(term: Term) -> Term:
        return names[term] if isinstance(term, Variable) else term

    def rename_atom(atom: Atom) -> Atom:
        return Atom(atom.relation, rename(atom.subject), rename(atom.object))

    return replace(clause, formula=map_leaves(clause.formula, rename_atom))
