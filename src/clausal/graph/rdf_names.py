"""Names as RDF terms: IRIs, blank nodes and literals as they are, any other name as an IRI that can be read back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import quote, unquote

from clausal.choices import BASE_IRI
from clausal.errors import InputError
from clausal.graph.prefixes import is_iri

Place = Literal["subject", "relation", "object"]
_BLANK = re.compile(r"_:[A-Za-z0-9_](?:[A-Za-z0-9_.\-]*[A-Za-z0-9_\-])?")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_\-]*")
_LITERAL = re.compile(r'("(?:[^"\\\n\r]|\\.)*")(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^([^\s<>"]+))?')


def check_base(base: str) -> None:
    """Refuse a base that IRIs cannot begin with."""
    if not is_iri(base + "x"):
        raise InputError(
            f"--base-iri {base}: expected the beginning of an IRI, such as http://example.org/ or {BASE_IRI}"
        )


def rdf_term(name: str, base: str = BASE_IRI, *, place: Place = "object") -> str:
    """Write a name as a term of N-Triples; one that is no IRI is percent-encoded behind ``base``.

    So is a literal that is not an object, and a blank node that is a relation: RDF has no others.
    """
    if place == "object" and name.startswith('"') and (literal := _LITERAL.fullmatch(name)):
        text, language, datatype = literal.groups()
        return f"{text}^^<{datatype}>" if datatype else f"{text}@{language}" if language else text
    if place != "relation" and _BLANK.fullmatch(name):
        return name
    return f"<{name_to_iri(name, base)}>"


def name_to_iri(name: str, base: str = BASE_IRI) -> str:
    """Return a name that is an IRI as it is, any other percent-encoded behind ``base``."""
    return name if is_iri(name) and not name.startswith(base) else base + quote(name, safe="")


def iri_to_name(iri: str, base: str = BASE_IRI) -> str:
    """Return the name that ``name_to_iri`` wrote as this IRI."""
    return unquote(iri[len(base) :]) if iri.startswith(base) else iri


def abbreviated(term: str, prefixes: Mapping[str, str]) -> str:
    """Write an IRI of N-Triples by a prefix, where one fits and the rest is a plain word."""
    for prefix, iri in prefixes.items():
        rest = term[1 + len(iri) : -1]
        if iri and term.startswith(f"<{iri}") and _PLAIN.fullmatch(rest):
            return f"{prefix}:{rest}"
    return term


def rdf_literal(value: str, language: str, datatype: str) -> str:
    """Write a text or a number of an entity as N-Triples."""
    import pyoxigraph

    if language:
        return str(pyoxigraph.Literal(value, language=language))
    return str(pyoxigraph.Literal(value, datatype=pyoxigraph.NamedNode(datatype) if datatype else None))
