"""The terms of RDF as names, and statements that pyoxigraph has parsed as tables of names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.graph.rdf.statements import FACT_COLUMNS, LITERAL_COLUMNS, Statements, text_table

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
_LANGUAGE_STRINGS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
_DIRECTED_STRINGS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString"
_USUAL_STARTS = ("http://", "https://", "urn:")
_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_MADE_UP = re.compile("[a-f][0-9a-f]{20,31}")  # a label that pyoxigraph draws for a node without one
_NUMBERED = re.compile("anon[0-9]+_*")


@dataclass
class Naming:
    """How terms are named: ``blank`` begins the names of blank nodes, or is None where these are left out.

    Blank nodes without a label, which some syntaxes have, are numbered in the order of the file: ``anon1``, ``anon2``.
    """

    keep_literals: bool
    blank: str | None
    base: str | None = None
    unlabelled: bool = False
    _numbers: dict[str, str] = field(default_factory=dict)

    def blank_name(self, label: str) -> str:
        """Return the name of a blank node that is not left out."""
        if self.unlabelled:
            if _MADE_UP.fullmatch(label):
                label = self._numbers.setdefault(label, f"anon{len(self._numbers) + 1}")
            elif _NUMBERED.fullmatch(label):
                label += "_"
        return f"{self.blank}{label}"

    def resolved(self, iri: str) -> str:
        """Return a relative IRI made whole by the base."""
        from pyoxigraph import RdfFormat, parse

        turtle = f"<{iri}> <x:> <x:> ."
        return next(iter(parse(turtle, format=RdfFormat.TURTLE, base_iri=self.base, lenient=True))).subject.value


@dataclass
class Piece(Statements):
    """Statements with the row, among those parsed, of each fact and each literal."""

    fact_rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    literal_rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))


def tables_of(quads: Iterable[Any], naming: Naming) -> Piece:
    """Return the facts and literals of parsed statements, in their order.

    An IRI is named without its angle brackets, a literal with its quotes and its language tag or data type, as in
    ``"Paris"@fr``, so that a literal never has the name of an IRI.
    """
    from pyoxigraph import BlankNode, DefaultGraph, NamedNode
    from pyoxigraph import Literal as LiteralTerm

    facts: list[tuple[str, str, str]] = []
    literals: list[tuple[str, str, str, str, str]] = []
    fact_rows, literal_rows = [], []
    piece = Piece(None)
    left_out, graphs = piece.left_out, set()

    def iri_name(value: str) -> str:
        if value.startswith(_USUAL_STARTS) or _SCHEME.match(value):
            return value
        if naming.base is not None:
            return naming.resolved(value)
        left_out["relative"] += 1
        value = value or "<>"  # the document itself
        piece.relative = piece.relative or value
        return value

    for row, (subject, predicate, object, graph) in enumerate(quads):
        kinds = type(subject), type(object)
        if type(graph) is not DefaultGraph:
            graphs.add(hash(graph.value))
        if naming.blank is None and BlankNode in kinds:
            left_out["blank"] += 1
            continue
        if kinds[1] not in (NamedNode, LiteralTerm, BlankNode):
            left_out["triple"] += 1
            continue
        name = iri_name(subject.value) if kinds[0] is NamedNode else naming.blank_name(subject.value)
        relation = iri_name(predicate.value)
        if kinds[1] is LiteralTerm and not naming.keep_literals:
            left_out["literal"] += 1
            literals.append((name, relation, object.value, object.language or "", _datatype(object)))
            literal_rows.append(row)
            continue
        if kinds[1] is NamedNode:
            other = iri_name(object.value)
        else:
            other = _literal_name(object) if kinds[1] is LiteralTerm else naming.blank_name(object.value)
        facts.append((name, relation, other))
        fact_rows.append(row)
    piece.facts = text_table(FACT_COLUMNS, list(zip(*facts, strict=True)) if facts else [[]] * 3)
    piece.literals = text_table(LITERAL_COLUMNS, list(zip(*literals, strict=True))) if literals else None
    piece.fact_rows, piece.literal_rows = np.array(fact_rows, np.int64), np.array(literal_rows, np.int64)
    piece.add_graphs(graphs)
    return piece


def _datatype(literal: Any) -> str:
    """Return a literal's data type, or nothing for a plain text and for one in a language."""
    datatype: str = literal.datatype.value
    usual = datatype == XSD_STRING or (literal.language and datatype in (_LANGUAGE_STRINGS, _DIRECTED_STRINGS))
    return "" if usual else datatype


def _literal_name(literal: Any) -> str:
    text = str(literal)
    if text.endswith(">"):
        quoted, _, datatype = text.rpartition("^^<")
        return f"{quoted}^^{datatype[:-1]}"
    return text
