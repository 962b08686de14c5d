"""A mined rule: a Horn clause with a body of one to three atoms, or with constants, and how often it holds.

Mined rules are written as a file of clauses, with the measures as comments for whoever prunes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from clausal.logic.intervals import wilson_lower
from clausal.logic.lines import check_new_file, write_lines
from clausal.logic.printer import print_clause
from clausal.logic.shape import implication
from clausal.logic.syntax import Atom, Clause, Term, Variable

Measure = Literal["confidence", "pca_confidence", "lower_bound"]

_VARIABLES = tuple(Variable(name) for name in "XYZW")


@dataclass(frozen=True)
class MinedRule:
    """A rule and how often it holds in the facts it was mined from, under object identity.

    Object identity: different variables and constants are different entities, so that no fact predicts itself.
    ``support`` counts the distinct facts of the head's relation that the body predicts, ``head_facts`` all facts of
    that relation, ``body_pairs`` the distinct predictions, and ``pca_pairs`` the predictions for an entity of which
    some fact of the head's relation is known. That entity is the ``functional`` end of the head. Where ``share`` is
    below 1, support and pairs are estimates from that share of the entities.
    """

    body: tuple[Atom, ...]
    head: Atom
    support: int
    head_facts: int
    body_pairs: int
    pca_pairs: int
    functional: Literal["subject", "object"]
    share: float = 1.0

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
        """Confidence under the partial completeness assumption (PCA): corrected for what the facts lack.

        A prediction counts against the rule only if another fact of the head's relation is known of its functional end.
        """
        return self.support / max(self.pca_pairs, self.support)

    @property
    def lower_bound(self) -> float:
        """Lower bound of the standard confidence: with 95 % certainty it is no accident of few cases."""
        return float(wilson_lower(self.support * self.share, self.body_pairs * self.share))

    def clause(self, weight: Measure | None = "confidence") -> Clause:
        """Return the rule as a clause whose weight is one of its confidences, to four digits, or 1."""
        value = 1.0 if weight is None else round(getattr(self, weight), 4)
        return Clause(implication(self.body, self.head), value, confidence=self.confidence, support=self.support)

    def __str__(self) -> str:
        return print_clause(self.clause(None))


def path_atoms(head: str, body: Sequence[tuple[str, bool]]) -> tuple[tuple[Atom, ...], Atom]:
    """Return body and head of ``b1(X, Y), b2(Y, Z) => head(X, Z)``; an atom that is walked backwards is swapped.

    With one atom it is the head that is swapped: ``b(X, Y) => head(Y, X)``.
    """
    if len(body) == 1:
        ((name, turned),) = body
        return (labelled_atom(name, False, *_VARIABLES[:2]),), labelled_atom(head, turned, *_VARIABLES[:2])
    atoms = [labelled_atom(*part, *_VARIABLES[place : place + 2]) for place, part in enumerate(body)]
    return tuple(atoms), Atom(head, _VARIABLES[0], _VARIABLES[len(body)])


def labelled_atom(name: str, turned: bool, first: Term, second: Term) -> Atom:
    """Return an atom with its terms in this order, or turned."""
    return Atom(name, second, first) if turned else Atom(name, first, second)


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
    estimate = "" if rule.share == 1 else f", estimated from {rule.share:.1%} of the entities"
    return (
        f"support {rule.support}, head coverage {rule.head_coverage:.4f}, confidence {rule.confidence:.4f} "
        f"(at least {rule.lower_bound:.4f}), PCA confidence {rule.pca_confidence:.4f}{estimate}"
    )
