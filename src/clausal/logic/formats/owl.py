"""OWL and RDFS axioms about properties, from RDF in any syntax: each is a function-free clause over IRIs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
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
    return clauses


def _triples(file: RuleFile) -> list[Any]:
    from pyoxigraph import RdfFormat, parse

    text = file.text.lstrip()
    format = (
        "RDF_XML" if text.startswith(("<?xml", "<rdf:", "<!--", "<!DOCTYPE")) else _ENDINGS.get(file.ending, "TURTLE")
    )
    if format == "RDF_XML" and text.startswith(("@", "PREFIX", "<http")):
        format = "TURTLE"  # .owl files come in either
    try:
        return list(parse(file.text, format=getattr(RdfFormat, format), base_iri="file:///rules", lenient=True))
    except SyntaxError as error:
        where = ":".join(str(part) for part in (file.source, error.lineno, error.offset) if part)
        reason = error.msg.partition(": ")[2] or error.msg
        raise InputError(f"{where}: not RDF ({format.replace('_', '-')}): {reason}") from None


class _Axioms:
    """The triples by subject and predicate, and what they say about properties."""

    def __init__(self, triples: list[Any]) -> None:
        self._triples = [(triple.subject, triple.predicate.value, triple.object) for triple in triples]
        self._objects: dict[tuple[Any, str], list[Any]] = defaultdict(list)
        for subject, predicate, object in self._triples:
            self._objects[subject, predicate].append(object)
        self.functional = 0

    def formulas(self) -> Iterator[Formula]:
        """Yield a clause, or two where the axiom goes both ways, for each axiom."""
        for subject, predicate, object in self._triples:
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
                    yield from (self._disjoint(*pair) for pair in combinations(self._list(object), 2))
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

    def _chain(self, properties: list[Any], head: Any) -> Formula:
        steps = [X, *(Variable(f"Z{index}") for index in range(1, len(properties))), Y]
        body = [self._atom(node, steps[index], steps[index + 1]) for index, node in enumerate(properties)]
        return implication(body, self._atom(head, X, Y))

    def _atom(self, node: Any, subject: Variable, object: Variable) -> Atom:
        """Return the atom of a property, or of the inverse that a blank node stands for."""
        inverse = self._objects.get((node, f"{_OWL}inverseOf"))
        if type(node).__name__ == "BlankNode" and inverse:
            return Atom(inverse[0].value, object, subject)
        return Atom(node.value, subject, object)

    def _is_a(self, node: Any, kind: str) -> bool:
        return any(getattr(object, "value", "") == f"{_OWL}{kind}" for object in self._objects[node, f"{_RDF}type"])

    def _list(self, node: Any) -> list[Any]:
        members: list[Any] = []
        while (first := self._objects.get((node, f"{_RDF}first"))) and len(members) < len(self._triples):
            members.append(first[0])
            node = next(iter(self._objects.get((node, f"{_RDF}rest"), [None])))
        return members
