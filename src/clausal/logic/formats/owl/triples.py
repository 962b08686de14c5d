"""The triples of an ontology: parsed from RDF in any syntax, and found by subject and predicate."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from clausal.choices import RDF_ENDINGS
from clausal.errors import InputError
from clausal.logic.formats.rule_file import RuleFile

OWL = "http://www.w3.org/2002/07/owl#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE = f"{RDF}type"

_RDF_STARTS = ("@prefix", "@base", "PREFIX ", "BASE ", "<?xml", "<rdf:", "<http", "<!DOCTYPE")


def fits_file(file: RuleFile) -> bool:
    """Tell whether a file is RDF, by its ending or its beginning."""
    return file.ending in RDF_ENDINGS or file.beginning.lstrip().startswith(_RDF_STARTS)


class Triples:
    """The triples of a file in its order, as (subject, IRI of the predicate, object), and a look-up of objects."""

    def __init__(self, file: RuleFile) -> None:
        self.all = [(triple.subject, triple.predicate.value, triple.object) for triple in _parse(file)]
        self._objects: dict[tuple[Any, str], list[Any]] = defaultdict(list)
        for subject, predicate, object in self.all:
            self._objects[subject, predicate].append(object)

    def objects(self, subject: Any, predicate: str) -> list[Any]:
        """Return the objects of a subject and a predicate."""
        return self._objects.get((subject, predicate), [])

    def is_a(self, node: Any, kind: str) -> bool:
        """Tell whether a node has this type, an IRI."""
        return any(getattr(object, "value", "") == kind for object in self.objects(node, TYPE))

    def members(self, node: Any) -> list[Any]:
        """Return the members of an RDF list; one that is broken or goes round ends there."""
        members: list[Any] = []
        while (first := self.objects(node, f"{RDF}first")) and len(members) < len(self.all):
            members.append(first[0])
            node = next(iter(self.objects(node, f"{RDF}rest")), None)
        return members


def is_named(node: Any) -> bool:
    """Tell whether a node is an IRI."""
    return type(node).__name__ == "NamedNode"


def is_blank(node: Any) -> bool:
    """Tell whether a node is a blank node."""
    return type(node).__name__ == "BlankNode"


def _parse(file: RuleFile) -> list[Any]:
    from pyoxigraph import RdfFormat, parse

    from clausal.graph.rdf.syntax import check_xml_entities, syntax_of  # a graph needs numpy, which clauses do not

    syntax = syntax_of(file.ending, file.text)
    if syntax == "RDF_XML":
        check_xml_entities(str(file.source), file.text, "the axioms")
    try:
        return list(parse(file.text, format=getattr(RdfFormat, syntax), base_iri="file:///rules", lenient=True))
    except SyntaxError as error:
        where = ":".join(str(part) for part in (file.source, error.lineno, error.offset) if part)
        reason = error.msg.partition(": ")[2] or error.msg
        raise InputError(f"{where}: not RDF ({syntax.replace('_', '-')}): {reason}") from None
