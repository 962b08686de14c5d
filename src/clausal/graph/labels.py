"""Labels of entities and relations: ``rdfs:label`` and ``skos:prefLabel``, in the language of the user."""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import Any

_PROPERTIES = ("http://www.w3.org/2004/02/skos/core#prefLabel", "http://www.w3.org/2000/01/rdf-schema#label")
DESCRIBING = (
    *_PROPERTIES,
    "http://www.w3.org/2004/02/skos/core#altLabel",
    "http://www.w3.org/2004/02/skos/core#definition",
    "http://www.w3.org/2000/01/rdf-schema#comment",
    "http://purl.org/dc/terms/description",
    "http://purl.org/dc/elements/1.1/description",
    "http://schema.org/description",
    "https://schema.org/description",
    "http://dbpedia.org/ontology/abstract",
)
"""Properties whose values describe an entity in words."""
_LOCALE = re.compile(r"([A-Za-z]{2,3})(?:[_-]([A-Za-z]{2,4}))?(?:[.@].*)?")


def user_language() -> str:
    """Return the language of the user's environment, such as ``de`` or ``pt-br``; English where none is set."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(variable)
        if value:
            found = _LOCALE.fullmatch(value)
            return "-".join(part.lower() for part in found.groups() if part) if found else "en"
    return "en"


class Labels:
    """Labels by full name, from a graph's literals; of several the best for a language.

    That is one in the language, then in English, then without a language, then any; a preferred label before others.
    """

    def __init__(self, literals: Any, language: str | None = None, properties: tuple[str, ...] = _PROPERTIES) -> None:
        self._literals = literals
        self._properties = properties
        self._language = user_language() if language is None else language.lower()

    @cached_property
    def _table(self) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        if self._literals is None:
            return None
        chosen = self._literals.filter(pc.is_in(self._literals["property"], value_set=pa.array(self._properties)))
        return chosen if len(chosen) else None

    @cached_property
    def _lowered(self) -> Any:
        """The labels in lower case and with single blanks."""
        import pyarrow.compute as pc

        single = pc.replace_substring_regex(self._table["value"], pattern=r"\s+", replacement=" ")
        return pc.utf8_lower(pc.utf8_trim_whitespace(single))

    def all(self) -> list[tuple[str, str]]:
        """Return every label, in any language, with the full name that has it."""
        if self._table is None:
            return []
        return list(zip(self._table["subject"].to_pylist(), self._table["value"].to_pylist(), strict=True))

    def joined(self) -> dict[str, str]:
        """Return for each full name its texts, of each property those in the best language that it has."""
        if self._table is None:
            return {}
        columns = [self._table[column].to_pylist() for column in ("subject", "property", "value", "language")]
        found: dict[str, dict[int, tuple[tuple[int, str], list[str]]]] = {}
        for subject, property, value, language in zip(*columns, strict=True):
            if not value.strip():
                continue
            of_name, place = found.setdefault(subject, {}), self._properties.index(property)
            rank = self._rank((language or "").lower())
            best, texts = of_name.get(place, (rank, []))
            if rank <= best:
                of_name[place] = (rank, [*(texts if rank == best else []), " ".join(value.split())])
        return {
            name: " ".join(dict.fromkeys(text for place in sorted(texts) for text in texts[place][1]))
            for name, texts in found.items()
        }

    def best(self, name: str) -> str | None:
        """Return the best label of a full name, or None; only what is shown is looked for."""
        import pyarrow.compute as pc

        if self._table is None:
            return None
        own = self._table.filter(pc.equal(self._table["subject"], name))
        columns = [own[column].to_pylist() for column in ("property", "value", "language")]
        ranked = [
            (*self._rank((language or "").lower()), self._properties.index(property), " ".join(value.split()))
            for property, value, language in zip(*columns, strict=True)
            if value.strip()
        ]
        return min(ranked)[-1] if ranked else None

    def _rank(self, tag: str) -> tuple[int, str]:
        wanted = self._language
        base = wanted.partition("-")[0]
        for place, fits in enumerate((tag == wanted, tag == base, tag.startswith(f"{base}-"))):
            if fits:
                return place, tag
        return (3 if tag == "en" else 4 if tag.startswith("en-") else 5 if not tag else 6), tag

    def named(self, label: str) -> list[str]:
        """Return the full names that have this label in any language, without regard to case."""
        import pyarrow.compute as pc

        if self._table is None:
            return []
        same = pc.equal(self._lowered, " ".join(label.split()).lower())
        return list(dict.fromkeys(self._table.filter(same)["subject"].to_pylist()))
