"""Facts, literals and prefixes from RDF in any syntax; the common ones of line formats by a fast reader."""

from clausal.graph.rdf.reading import line_of_fact, read_rdf
from clausal.graph.rdf.statements import BlankNodes, Literals, RdfOptions, Statements, join_statements
from clausal.graph.rdf.syntax import RDF_ENDINGS, check_xml_entities, syntax_of

__all__ = [
    "RDF_ENDINGS",
    "BlankNodes",
    "Literals",
    "RdfOptions",
    "Statements",
    "check_xml_entities",
    "join_statements",
    "line_of_fact",
    "read_rdf",
    "syntax_of",
]
