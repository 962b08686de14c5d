"""Axioms of OWL and RDFS about properties and classes as clauses; what clauses cannot say is counted and told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb
from typing import Any

from clausal.logic.formats.owl.classes import (
    NOTHING_SAID,
    Body,
    ClassExpressions,
    Defined,
    Inexpressible,
    fresh_variables,
)
from clausal.logic.formats.owl.triples import OWL, RDFS, TYPE, Triples, is_blank, is_named
from clausal.logic.formats.rule_file import RuleFile, X, Y, Z, weighted_clause
from clausal.logic.shape import implication
from clausal.logic.syntax import And, Atom, Clause, Falsum, Formula, Implies, Term, Variable, leaves

_MOST_DISJOINT = (
    100_000  # pairs of disjoint properties or classes in a file: those of 447 in one axiom, far more than usual
)
_UNSAID = {  # by predicate
    "hasKey": "owl:hasKey",
    "sameAs": "owl:sameAs",
    "differentFrom": "owl:differentFrom",
    "distinctMembers": "owl:AllDifferent",
    "targetIndividual": "owl:NegativePropertyAssertion",
    "targetValue": "owl:NegativePropertyAssertion",
}
_SHOWN_KINDS = 12


def read(file: RuleFile) -> list[Clause]:
    """Read the axioms in the order of the file; facts and annotations are passed over."""
    axioms = _Axioms(Triples(file))
    clauses: dict[object, Clause] = {}
    repeated = 0
    for formula in axioms.formulas():
        key = _meaning(formula)
        repeated += key in clauses
        clauses.setdefault(key, weighted_clause(formula, file.source, None))
    for sentence in axioms.sentences():
        file.tell(f"{file.source}: {sentence}")
    if repeated:
        clause = "clause is" if repeated == 1 else "clauses are"
        file.tell(
            f"{file.source}: {repeated:,} {clause} said again, such as by an inverse on both sides, and read once"
        )
    return list(clauses.values())


def _meaning(formula: Formula) -> object:
    """Return what clauses share that say the same in another order of their atoms."""
    if isinstance(formula, Implies):
        return frozenset(leaves(formula.body)), formula.head
    return formula


class _NotAPropertyError(Exception):
    """A triple stands where an axiom has a property; never leaves this module."""


class _Axioms:
    """What triples say about properties and classes, and how much of it clauses cannot say."""

    def __init__(self, triples: Triples) -> None:
        self._triples = triples
        self._left_out: Counter[str] = Counter()
        self._classes = ClassExpressions(triples, self._atom, self._left_out)
        self._nested = 0
        self._crowded: dict[str, tuple[int, int]] = {}
        self._pairs = 0

    def formulas(self) -> Iterator[Formula]:
        """Yield a clause, or several, for each axiom that clauses can say."""
        for triple in self._triples.all:
            try:
                yield from self._formulas_of(*triple)
            except _NotAPropertyError:
                self._nested += 1
            except Inexpressible as error:
                self._left_out[error.kind] += 1

    def sentences(self) -> Iterator[str]:
        """Yield what a user should know about what was left out, once the formulas have been taken."""
        nothing = self._left_out.pop(NOTHING_SAID, 0)
        if nothing:
            yield f"{nothing:,} axiom{'' if nothing == 1 else 's'} {NOTHING_SAID}, left out"
        if self._left_out:
            kinds = [f"{number:,} {kind}" for kind, number in self._left_out.most_common(_SHOWN_KINDS)]
            more = len(self._left_out) - len(kinds)
            kinds += [f"{more:,} of other kinds"] if more else []
            yield f"left out, as clauses cannot say them: {', '.join(kinds)}"
        for kind, (axioms, pairs) in self._crowded.items():
            what, single = ("properties", "propertyDisjointWith") if "Prop" in kind else ("classes", "disjointWith")
            yield (
                f"{axioms:,} owl:{kind} with {pairs:,} pairs of {what} were left out: {_MOST_DISJOINT:,} pairs are "
                f"read; write those that matter as owl:{single}"
            )
        if self._nested:
            axiom = "axiom" if self._nested == 1 else "axioms"
            yield f"{self._nested:,} {axiom} with a triple in the place of a property (RDF 1.2) left out"

    def _formulas_of(self, subject: Any, predicate: str, object: Any) -> Iterator[Formula]:
        if predicate.startswith(OWL):
            yield from self._owl(subject, predicate.removeprefix(OWL), object)
        elif predicate == TYPE:
            yield from self._characteristic(subject, getattr(object, "value", "").removeprefix(OWL))
        elif predicate.startswith(RDFS):
            yield from self._rdfs(subject, predicate.removeprefix(RDFS), object)

    def _rdfs(self, subject: Any, predicate: str, object: Any) -> Iterator[Formula]:
        match predicate:
            case "subPropertyOf":
                yield from self._implied(subject, object)
            case "subClassOf":
                yield from self._subclass(subject, object)
            case "domain":
                yield from self._typed([self._atom(subject, X, Y)], object, X)
            case "range":
                yield from self._typed([self._atom(subject, X, Y)], object, Y)

    def _owl(self, subject: Any, predicate: str, object: Any) -> Iterator[Formula]:
        match predicate:
            case "equivalentProperty":
                yield from self._implied(subject, object)
                yield from self._implied(object, subject)
            case "inverseOf" if is_named(subject):
                yield implication([self._atom(subject, X, Y)], self._atom(object, Y, X))
                if subject != object:
                    yield implication([self._atom(object, X, Y)], self._atom(subject, Y, X))
            case "propertyDisjointWith":
                yield self._disjoint(subject, object)
            case "propertyChainAxiom":
                yield self._chain(self._triples.members(object), subject)
            case "members" if self._triples.is_a(subject, f"{OWL}AllDisjointProperties"):
                yield from self._all_disjoint("AllDisjointProperties", self._triples.members(object))
            case "members" if self._triples.is_a(subject, f"{OWL}AllDisjointClasses"):
                yield from self._all_disjoint("AllDisjointClasses", self._triples.members(object))
            case "members" if self._triples.is_a(subject, f"{OWL}AllDifferent"):
                raise Inexpressible("owl:AllDifferent")
            case "equivalentClass":
                yield from self._equivalent(subject, object)
            case "disjointWith":
                yield from self._disjoint_classes(subject, object)
            case "disjointUnionOf":
                parts = self._triples.members(object)
                yield from self._equivalent(subject, Defined("unionOf", object))
                yield from self._all_disjoint("AllDisjointClasses", parts)
            case "intersectionOf" | "unionOf" | "complementOf" | "oneOf" if is_named(subject):
                yield from self._equivalent(subject, Defined(predicate, object))
            case _ if predicate in _UNSAID:
                raise Inexpressible(_UNSAID[predicate])

    def _characteristic(self, node: Any, kind: str) -> Iterator[Formula]:
        match kind:
            case "SymmetricProperty":
                yield implication([self._atom(node, X, Y)], self._atom(node, Y, X))
            case "TransitiveProperty":
                yield implication([self._atom(node, X, Y), self._atom(node, Y, Z)], self._atom(node, X, Z))
            case "AsymmetricProperty":
                yield implication([self._atom(node, X, Y), self._atom(node, Y, X)], Falsum())
            case "ReflexiveProperty":
                yield self._atom(node, X, X)
            case "IrreflexiveProperty":
                yield implication([self._atom(node, X, X)], Falsum())
            case "FunctionalProperty" | "InverseFunctionalProperty":
                raise Inexpressible("functional or inverse functional properties")

    def _equivalent(self, one: Any, other: Any) -> Iterator[Formula]:
        """Yield both directions; one that clauses cannot say is counted, and the other one still said."""
        for lower, upper in ((one, other), (other, one)):
            try:
                yield from self._subclass(lower, upper)
            except Inexpressible as error:
                self._left_out[error.kind] += 1

    def _subclass(self, lower: Any, upper: Any) -> Iterator[Formula]:
        """Yield that each member of a class is one of another."""
        if lower == upper:
            return
        fresh = fresh_variables()
        for body in self._classes.bodies(lower, X, fresh):
            yield from self._typed(body, upper, X)

    def _typed(self, body: Sequence[Atom], node: Any, term: Variable) -> Iterator[Formula]:
        """Yield that a term is a member of a class where a body holds."""
        fresh = (variable for variable in fresh_variables() if not _occurs(variable, body))
        for more, head in self._classes.heads(node, term, fresh):
            formula = _clause((*body, *more), head)
            if formula is not None:
                yield formula

    def _disjoint_classes(self, one: Any, other: Any) -> Iterator[Formula]:
        fresh = fresh_variables()
        others = self._classes.bodies(other, X, fresh)
        for body in self._classes.bodies(one, X, fresh):
            yield from (implication((*body, *more), Falsum()) for more in others if body or more)

    def _implied(self, body: Any, head: Any) -> Iterator[Formula]:
        if body != head:
            yield implication([self._atom(body, X, Y)], self._atom(head, X, Y))

    def _disjoint(self, one: Any, other: Any) -> Formula:
        return implication([self._atom(one, X, Y), self._atom(other, X, Y)], Falsum())

    def _all_disjoint(self, kind: str, members: list[Any]) -> Iterator[Formula]:
        pairs = comb(len(members), 2)
        if self._pairs + pairs > _MOST_DISJOINT:
            axioms, before = self._crowded.get(kind, (0, 0))
            self._crowded[kind] = axioms + 1, before + pairs
            return
        self._pairs += pairs
        for one, other in combinations(members, 2):
            if kind == "AllDisjointProperties":
                yield self._disjoint(one, other)
            else:
                yield from self._disjoint_classes(one, other)

    def _chain(self, properties: list[Any], head: Any) -> Formula:
        steps = [X, *(Variable(f"Z{index}") for index in range(1, len(properties))), Y]
        body = [self._atom(node, steps[index], steps[index + 1]) for index, node in enumerate(properties)]
        return implication(body, self._atom(head, X, Y))

    def _atom(self, node: Any, subject: Term, object: Term) -> Atom:
        """Return the atom of a property, or of the inverse that a blank node stands for."""
        inverse = self._triples.objects(node, f"{OWL}inverseOf")
        if is_blank(node) and inverse:
            node, subject, object = inverse[0], object, subject
        if not hasattr(node, "value"):
            raise _NotAPropertyError
        return Atom(node.value, subject, object)


def _clause(body: Body, head: Formula) -> Formula | None:
    """Return body ⇒ head; None where there is nothing but ``false``, or the head is a part of the body."""
    if head in body or (not body and isinstance(head, Falsum)):
        return None
    if not body:
        return head
    return Implies(body[0] if len(body) == 1 else And(tuple(body)), head)


def _occurs(variable: Variable, body: Sequence[Atom]) -> bool:
    return any(variable in atom.terms for atom in body)
