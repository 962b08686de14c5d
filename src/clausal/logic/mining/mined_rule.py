"""A mined rule: a Horn clause of two or three atoms with the measures that AMIE defines.

Mined rules are written as a file of clauses, with the measures as comments for whoever prunes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from clausal.logic.lines import check_new_file, write_lines
from clausal.logic.printer import print_clause
from clausal.logic.shape import implication
from clausal.logic.syntax import Atom, Clause, Variable

Measure = Literal["confidence", "pca_confidence"]

_X, _Y, _Z = Variable("X"), Variable("Y"), Variable("Z")


@dataclass(frozen=True)
class MinedRule:
    """A rule and how often it holds in the facts it was mined from.

    ``support`` counts the distinct facts of the head's relation that the body predicts, ``head_facts`` all facts of
    that relation, ``body_pairs`` the distinct predictions, and ``pca_pairs`` the predictions for an entity of which
    some fact of the head's relation is known. That entity is the ``functional`` end of the head. ``circular`` counts
    the facts among the support that are predicted only from themselves, which takes a fact such as s(b, b).
    """

    body: tuple[Atom, ...]
    head: Atom
    support: int
    head_facts: int
    body_pairs: int
    pca_pairs: int
    functional: Literal["subject", "object"]
    circular: int

    @property
    def head_coverage(self) -> float:
        """The share of the head relation's facts that the body predicts."""
        return self.support / self.head_facts

    @property
    def confidence(self) -> float:
        """Standard confidence: the share of predictions that are facts; what is not a fact counts as false."""
        return self.support / self.body_pairs

    @property
    def pca_confidence(self) -> float:
        """Confidence under the partial completeness assumption (PCA).

        A prediction counts against the rule only if another fact of the head's relation is known of its functional end.
        """
        return self.support / self.pca_pairs

    def clause(self, weight: Measure | None = "confidence") -> Clause:
        """Return the rule as a clause whose weight is one of its confidences, to four digits, or 1."""
        value = 1.0 if weight is None else round(getattr(self, weight), 4)
        return Clause(implication(self.body, self.head), value, confidence=self.confidence, support=self.support)

    def __str__(self) -> str:
        return print_clause(self.clause(None))


def one_atom(body: str, head: str, *, inverse: bool) -> tuple[tuple[Atom, ...], Atom]:
    """Return body and head of ``body(X, Y) => head(X, Y)``, or of ``body(X, Y) => head(Y, X)``."""
    return (Atom(body, _X, _Y),), Atom(head, _Y, _X) if inverse else Atom(head, _X, _Y)


def chain(
    first: str, second: str, head: str, *, first_inverse: bool, second_inverse: bool
) -> tuple[tuple[Atom, ...], Atom]:
    """Return body and head of ``first(X, Y), second(Y, Z) => head(X, Z)``; an inverse atom has its terms swapped."""
    return (
        Atom(first, _Y, _X) if first_inverse else Atom(first, _X, _Y),
        Atom(second, _Z, _Y) if second_inverse else Atom(second, _Y, _Z),
    ), Atom(head, _X, _Z)


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
