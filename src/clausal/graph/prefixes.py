"""Prefixes: short forms of the beginnings of IRIs, those of a file and those that everybody knows."""

from __future__ import annotations

import re
from collections.abc import Mapping

COMMON = {
    "brick": "https://brickschema.org/schema/Brick#",
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
    "dbr": "http://dbpedia.org/resource/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "gn": "http://www.geonames.org/ontology#",
    "obo": "http://purl.obolibrary.org/obo/",
    "owl": "http://www.w3.org/2002/07/owl#",
    "prov": "http://www.w3.org/ns/prov#",
    "qudt": "http://qudt.org/schema/qudt/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "schema": "https://schema.org/",
    "sdo": "http://schema.org/",
    "sh": "http://www.w3.org/ns/shacl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "unit": "http://qudt.org/vocab/unit/",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "void": "http://rdfs.org/ns/void#",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "yago": "http://yago-knowledge.org/resource/",
}

BEFORE_LOCAL = r"^(?:[A-Za-z][A-Za-z0-9+.\-]*://\S*[/#]|urn:\S*[:/#])"
"""What stands before the local name of an IRI; names that are no IRIs have no such part."""
_BEFORE_LOCAL = re.compile(BEFORE_LOCAL)
_IRI = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]*://|urn:)[^\s<>\"{}|\\^`\x00-\x20]+")


def is_iri(name: str) -> bool:
    """Say whether a name is a whole IRI: with ``://``, or a URN. ``brick:feeds`` is a name with a prefix."""
    return _IRI.fullmatch(name) is not None


def local_name(name: str) -> str:
    """Return what stands behind the last ``#`` or ``/`` of an IRI; of any other name, and of none, the name itself."""
    return _BEFORE_LOCAL.sub("", name) or name


class Prefixes:
    """Prefixes as a file declares them, and common ones whose name it does not give to something else."""

    def __init__(self, declared: Mapping[str, str] | None = None) -> None:
        declared = {prefix: iri for prefix, iri in (declared or {}).items() if iri}
        self._iri_of = {**COMMON, **declared}
        prefix_of: dict[str, str] = {}
        for prefix in (*declared, *COMMON):
            prefix_of.setdefault(self._iri_of[prefix], prefix)
        self._longest_first = sorted(prefix_of.items(), key=lambda item: -len(item[0]))

    def shorten(self, iri: str) -> str | None:
        """Return an IRI with a prefix, ``brick:feeds``, by the longest beginning that has one; or None."""
        for start, prefix in self._longest_first:
            if iri.startswith(start) and len(iri) > len(start):
                return f"{prefix}:{iri[len(start) :]}"
        return None

    def expand(self, text: str) -> str | None:
        """Return the IRI of a name with a prefix, or None where it has none that is known."""
        prefix, colon, local = text.partition(":")
        iri = self._iri_of.get(prefix) if colon else None
        return None if iri is None else iri + local
