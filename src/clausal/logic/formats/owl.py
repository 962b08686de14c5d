"""OWL and RDFS axioms about properties, from RDF in any syntax: each is a function-free clause over IRIs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Any

from clausal.errors import InputError
from clausal.logic.formats.rule_file import RuleFile, X, Y, Z, weighted_clause
from clausal.logic.shape import implication
from clausal.logic.syntax import Atom, Clause, Falsum, Formula, Variable

_ENDINGS = {
    ".ttl": "TURTLE",
    ".n3": "N3",
    ".nt": "N_TRIPLES",
    ".nq": "N_QUADS",
    ".trig": "TRIG",
    ".rdf": "RDF_XML",
    ".owl": "RDF_XML",
    ".xml": "RDF_XML",
    ".jsonld": "JSON_LD",
}

_OWL = "http://www.w3.org/2002/07/owl#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_SUB_PROPERTY = "http://www.w3.org/2000/01/rdf-schema#subPropertyOf"
_RDF_STARTS = ("@prefix", "@base", "PREFIX ", "BASE ", "<?xml", "<rdf:", "<http", "<!DOCTYPE")

_ENTITY = re.compile(r'<!ENTITY([^<"]*)"([^"]*)"')
_REFERENCE = re.compile(r"&([^\s&;<]+);")
_MOST_GROWTH = 32  # an IRI in the place of each short reference makes a text about ten times as long
_MOST_DISJOINT = (
    100_000  # pairs of disjoint properties in a file: those of 447 in one axiom, far more than ontologies have
)


def fits_file(file: RuleFile) -> bool:
    """Tell whether a file is RDF, by its ending or its beginning."""
    return file.ending in _ENDINGS or file.beginning.lstrip().startswith(_RDF_STARTS)


def read(file: RuleFile) -> list[Clause]:
    """Read the axioms about properties, in the order of the file; other triples are passed over."""
    axioms = _Axioms(_triples(file))
    clauses = [weighted_clause(formula, file.source, None) for formula in axioms.formulas()]
    if axioms.functional:
        file.tell(
            f"{file.source}: {axioms.functional:,} functional or inverse functional properties were left out: "
            "a clause cannot say that two entities are equal"
        )
    if axioms.crowded:
        file.tell(
            f"{file.source}: {axioms.crowded:,} owl:AllDisjointProperties with {axioms.crowded_pairs:,} pairs of "
            f"properties were left out: {_MOST_DISJOINT:,} pairs are read; write those that matter as "
            "owl:propertyDisjointWith"
        )
    if axioms.nested:
        axiom = "axiom" if axioms.nested == 1 else "axioms"
        file.tell(
            f"{file.source}: {axioms.nested:,} {axiom} with a triple in the place of a property (RDF 1.2) left out"
        )
    return clauses


def _triples(file: RuleFile) -> list[Any]:
    from pyoxigraph import RdfFormat, parse

    text = file.text.lstrip()
    format = (
        "RDF_XML" if text.startswith(("<?xml", "<rdf:", "<!--", "<!DOCTYPE")) else _ENDINGS.get(file.ending, "TURTLE")
    )
    if format == "RDF_XML" and text.startswith(("@", "PREFIX", "<http")):
        format = "TURTLE"  # .owl files come in either
    if format == "RDF_XML":
        _check_entities(file)
    try:
        return list(parse(file.text, format=getattr(RdfFormat, format), base_iri="file:///rules", lenient=True))
    except SyntaxError as error:
        where = ":".join(str(part) for part in (file.source, error.lineno, error.offset) if part)
        reason = error.msg.partition(": ")[2] or error.msg
        raise InputError(f"{where}: not RDF ({format.replace('_', '-')}): {reason}") from None


def _check_entities(file: RuleFile) -> None:
    """Refuse XML whose entities stand for far more text than the file has, as a few that stand for one another can.

    The parser writes out the value of an entity where it is declared, by those declared before it.
    """
    room = _MOST_GROWTH * len(file.text) + (1 << 20)
    lengths: dict[str, int] = {}

    def written_out(text: str) -> int:
        return sum(lengths.get(name, 0) for name in _REFERENCE.findall(text)) if lengths else 0

    for declared, value in _ENTITY.findall(file.text):
        length = len(value) + written_out(value)
        room -= length
        if room < 0:
            break
        name = declared.split()[-1] if declared.strip() else ""
        lengths[name] = max(length, lengths.get(name, 0))
    if room < 0 or written_out(file.text) > room:
        raise InputError(
            f"{file.source}: its entities (<!ENTITY …>) stand for more than {_MOST_GROWTH} times the text of the file; "
            "write out what they stand for, or save the axioms as Turtle"
        )


class _NotAPropertyError(Exception):
    """A triple stands where an axiom has a property; never leaves this module."""


class _Axioms:
    """The triples by subject and predicate, and what they say about properties."""

    def __init__(self, triples: list[Any]) -> None:
        self._triples = [(triple.subject, triple.predicate.value, triple.object) for triple in triples]
        self._objects: dict[tuple[Any, str], list[Any]] = defaultdict(list)
        for subject, predicate, object in self._triples:
            self._objects[subject, predicate].append(object)
        self.functional = 0
        self.nested = 0
        self.crowded, self.crowded_pairs, self._pairs = 0, 0, 0

    def formulas(self) -> Iterator[Formula]:
        """Yield a clause, or two where the axiom goes both ways, for each axiom."""
        for triple in self._triples:
            try:
                yield from self._formulas_of(*triple)
            except _NotAPropertyError:
                self.nested += 1

    def _formulas_of(self, subject: Any, predicate: str, object: Any) -> Iterator[Formula]:
        match predicate.removeprefix(_OWL):
            case "equivalentProperty":
                yield from self._implied(subject, object)
                yield from self._implied(object, subject)
            case "inverseOf" if type(subject).__name__ == "NamedNode":
                yield implication([self._atom(subject, X, Y)], self._atom(object, Y, X))
                if subject != object:
                    yield implication([self._atom(object, X, Y)], self._atom(subject, Y, X))
            case "propertyDisjointWith":
                yield self._disjoint(subject, object)
            case "propertyChainAxiom":
                yield self._chain(self._list(object), subject)
            case "members" if self._is_a(subject, "AllDisjointProperties"):
                yield from self._all_disjoint(self._list(object))
        if predicate == _SUB_PROPERTY:
            yield from self._implied(subject, object)
        elif predicate == f"{_RDF}type":
            yield from self._characteristic(subject, getattr(object, "value", ""))

    def _characteristic(self, node: Any, kind: str) -> Iterator[Formula]:
        match kind.removeprefix(_OWL):
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
                self.functional += 1

    def _implied(self, body: Any, head: Any) -> Iterator[Formula]:
        if body != head:
            yield implication([self._atom(body, X, Y)], self._atom(head, X, Y))

    def _disjoint(self, one: Any, other: Any) -> Formula:
        return implication([self._atom(one, X, Y), self._atom(other, X, Y)], Falsum())

    def _all_disjoint(self, properties: list[Any]) -> Iterator[Formula]:
        pairs = comb(len(properties), 2)
        if self._pairs + pairs > _MOST_DISJOINT:
            self.crowded += 1
            self.crowded_pairs += pairs
            return
        self._pairs += pairs
        yield from (self._disjoint(*pair) for pair in combinations(properties, 2))

    def _chain(self, properties: list[Any], head: Any) -> Formula:
        steps = [X, *(Variable(f"Z{index}") for index in range(1, len(properties))), Y]
        body = [self._atom(node, steps[index], steps[index + 1]) for index, node in enumerate(properties)]
        return implication(body, self._atom(head, X, Y))

    def _atom(self, node: Any, subject: Variable, object: Variable) -> Atom:
        """Return the atom of a property, or of the inverse that a blank node stands for."""
        inverse = self._objects.get((node, f"{_OWL}inverseOf"))
        if type(node).__name__ == "BlankNode" and inverse:
            node, subject, object = inverse[0], object, subject
        if not hasattr(node, "value"):
            raise _NotAPropertyError
        return Atom(node.value, subject, object)

    def _is_a(self, node: Any, kind: str) -> bool:
        return any(getattr(object, "value", "") == f"{_OWL}{kind}" for object in self._objects[node, f"{_RDF}type"])

    def _list(self, node: Any) -> list[Any]:
        members: list[Any] = []
        while (first := self._objects.get((node, f"{_RDF}first"))) and len(members) < len(self._triples):
            members.append(first[0])
            node = next(iter(self._objects.get((node, f"{_RDF}rest"), [None])))
        return members
