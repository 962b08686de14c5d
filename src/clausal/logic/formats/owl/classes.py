"""Class expressions of OWL as atoms: in a body, what makes an entity a member; in a head, what follows for a member.

A class is a constant, and ``rdf:type`` the relation to it. What OWL 2 RL can say is said, and unions in a head as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, count, product
from math import prod
from typing import Any, TypeAlias

from clausal.logic.formats.owl.triples import OWL, RDF, RDFS, TYPE, Triples, is_blank, is_named
from clausal.logic.syntax import Atom, Constant, Falsum, Formula, Or, Term, Variable

Body: TypeAlias = tuple[Atom, ...]

_EVERYTHING = {f"{OWL}Thing", f"{RDFS}Resource"}
_XSD = "http://www.w3.org/2001/XMLSchema#"
_DATATYPES = {f"{RDFS}Literal", f"{RDF}langString", f"{RDF}PlainLiteral", f"{RDF}XMLLiteral", f"{OWL}real",
              f"{OWL}rational"}  # fmt: skip
_CONNECTIVES = ("intersectionOf", "unionOf", "complementOf", "oneOf")
_RESTRICTIONS = ("someValuesFrom", "allValuesFrom", "hasValue", "hasSelf", "minCardinality", "maxCardinality",
                 "cardinality", "minQualifiedCardinality", "maxQualifiedCardinality",
                 "qualifiedCardinality")  # fmt: skip
_MOST_ALTERNATIVES = 1000
_DEEPEST = 20

NOTHING_SAID = "about owl:Thing, which says nothing"


@dataclass(frozen=True)
class Defined:
    """A class by one predicate and its value, such as ``intersectionOf`` and a list, as a blank node has them."""

    kind: str
    value: Any


class Inexpressible(Exception):  # noqa: N818  (never leaves this package: it is counted)
    """Something that clauses cannot say; ``kind`` is what it is counted as."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def fresh_variables() -> Iterator[Variable]:
    """Yield variables that the axioms themselves do not use: Z1, Z2 …"""
    return (Variable(f"Z{number}") for number in count(1))


class ClassExpressions:
    """The classes of an ontology; ``atom`` makes an atom of a property, and ``left_out`` counts what cannot be said."""

    def __init__(self, triples: Triples, atom: Callable[[Any, Term, Term], Atom], left_out: Counter[str]) -> None:
        self._triples = triples
        self._atom = atom
        self._left_out = left_out

    def bodies(self, node: Any, term: Term, fresh: Iterator[Variable], depth: int = 0) -> list[Body]:
        """Return conjunctions, each of which makes ``term`` a member of a class; an empty one always does."""
        kind, value = self._kind(node, depth)
        match kind:
            case "named" if value in _EVERYTHING:
                return [()]
            case "named" if value == f"{OWL}Nothing":
                return []
            case "named":
                return [(Atom(TYPE, term, Constant(value)),)]
            case "intersectionOf":
                parts = [self.bodies(part, term, fresh, depth + 1) for part in self._triples.members(value)]
                _check_size(prod(map(len, parts)))
                return [tuple(chain.from_iterable(choice)) for choice in product(*parts)]
            case "unionOf":
                parts = [self.bodies(part, term, fresh, depth + 1) for part in self._triples.members(value)]
                _check_size(sum(map(len, parts)))
                return list(chain.from_iterable(parts))
            case "someValuesFrom":
                other = next(fresh)
                step = self._property(node, term, other)
                return [(step, *body) for body in self.bodies(value, other, fresh, depth + 1)]
            case "hasValue" | "hasSelf":
                return [(self._valued(node, kind, value, term),)]
        raise Inexpressible(_label(kind))

    def heads(self, node: Any, term: Term, fresh: Iterator[Variable], depth: int = 0) -> Iterator[tuple[Body, Formula]]:
        """Yield what follows for ``term`` as a member of a class: further conditions and a head.

        Parts that clauses cannot say are counted and left out: what is said of the others is true without them.
        """
        try:
            yield from self._heads(node, term, fresh, depth)
        except Inexpressible as error:
            self._left_out[error.kind] += 1

    def _heads(self, node: Any, term: Term, fresh: Iterator[Variable], depth: int) -> Iterator[tuple[Body, Formula]]:
        kind, value = self._kind(node, depth)
        match kind:
            case "named" if value in _EVERYTHING:
                raise Inexpressible(NOTHING_SAID)
            case "named" if value == f"{OWL}Nothing":
                yield (), Falsum()
            case "named":
                yield (), Atom(TYPE, term, Constant(value))
            case "intersectionOf":
                for part in self._triples.members(value):
                    yield from self.heads(part, term, fresh, depth + 1)
            case "unionOf":
                yield (), self._union(value, term, fresh, depth)
            case "complementOf":
                yield from ((body, Falsum()) for body in self.bodies(value, term, fresh, depth + 1))
            case "allValuesFrom":
                other = next(fresh)
                step = self._property(node, term, other)
                for body, head in self.heads(value, other, fresh, depth + 1):
                    yield (step, *body), head
            case "hasValue" | "hasSelf":
                yield (), self._valued(node, kind, value, term)
            case "maxCardinality" | "cardinality" | "maxQualifiedCardinality" | "qualifiedCardinality" if (
                getattr(value, "value", "") == "0"
            ):
                other = next(fresh)
                step = self._property(node, term, other)
                classes = self._triples.objects(node, f"{OWL}onClass")
                bodies = self.bodies(classes[0], other, fresh, depth + 1) if classes else [()]
                yield from (((step, *body), Falsum()) for body in bodies)
            case _:
                raise Inexpressible(_label(kind))

    def _union(self, members: Any, term: Term, fresh: Iterator[Variable], depth: int) -> Formula:
        """Return a disjunction of atoms; a member that is more than an atom cannot be a part of a clause's head."""
        heads: list[Formula] = []
        for part in self._triples.members(members):
            ((body, head), *more) = list(self._heads(part, term, fresh, depth + 1)) or [((), Falsum())]
            if body or more or not isinstance(head, Atom):
                raise Inexpressible("owl:unionOf")
            heads.append(head)
        if not heads:
            raise Inexpressible("owl:unionOf")
        return Or(tuple(heads)) if len(heads) > 1 else heads[0]

    def _kind(self, node: Any, depth: int) -> tuple[str, Any]:
        """Return what a class is: ``named`` with its IRI, or the predicate that defines it with its value."""
        if depth > _DEEPEST:
            raise Inexpressible("classes nested too deeply")
        if isinstance(node, Defined):
            return node.kind, node.value
        if self._is_datatype(node):
            raise Inexpressible("about datatypes")
        if is_named(node):
            return "named", node.value
        if not is_blank(node):
            raise Inexpressible("unnamed classes of other kinds")
        for kind in (*_CONNECTIVES, *_RESTRICTIONS):
            values = self._triples.objects(node, f"{OWL}{kind}")
            if values:
                return kind, values[0]
        raise Inexpressible("unnamed classes of other kinds")

    def _is_datatype(self, node: Any) -> bool:
        if is_named(node) and (node.value.startswith(_XSD) or node.value in _DATATYPES):
            return True
        return any(self._triples.is_a(node, kind) for kind in (f"{RDFS}Datatype", f"{OWL}DataRange"))

    def _property(self, node: Any, subject: Term, object: Term) -> Atom:
        properties = self._triples.objects(node, f"{OWL}onProperty")
        if not properties:
            raise Inexpressible("unnamed classes of other kinds")
        return self._atom(properties[0], subject, object)

    def _valued(self, node: Any, kind: str, value: Any, term: Term) -> Atom:
        if kind == "hasSelf":
            return self._property(node, term, term)
        if not is_named(value):
            raise Inexpressible("owl:hasValue with a literal or a blank node")
        return self._property(node, term, Constant(value.value))


def _label(kind: str) -> str:
    return kind if kind == "named" else f"owl:{kind}"


def _check_size(alternatives: int) -> None:
    if alternatives > _MOST_ALTERNATIVES:
        raise Inexpressible("unions of too many classes")
