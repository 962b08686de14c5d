"""Display names: how full names, which may be IRIs, are shown to people, and found again by what was shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from clausal.choices import NameStyle
from clausal.errors import did_you_mean
from clausal.graph.labels import Labels
from clausal.graph.prefixes import BEFORE_LOCAL, Prefixes, is_iri, local_name
from clausal.graph.vocabulary import Names

if TYPE_CHECKING:
    from clausal.graph.query import Fact, Query

_WITH_SHORT = re.compile(r"(?s)(.+) \(([^()]+)\)")
_MOST_COMPARED = 50_000


class DisplayNames:
    """Short forms or labels of the names of a graph. A name that is no IRI is shown as it is.

    The short form of an IRI has a prefix of the file or a common one, ``brick:feeds``; without one it is the local
    name, ``feeds``, where no other name ends so; else the IRI is shown whole. What is shown can be given back in a
    question. A label that several names share is followed by the short form: ``Pump (ex:pump_2)``.
    """

    def __init__(
        self,
        entities: Names,
        relations: Names,
        prefixes: Mapping[str, str] | None = None,
        literals: Any = None,
        *,
        style: NameStyle = "short",
        language: str | None = None,
    ) -> None:
        self.style: NameStyle = style
        known, labels = Prefixes(prefixes), Labels(literals, language)
        self._entities, self._relations = (_Index(names, known, labels) for names in (entities, relations))

    def styled(self, style: NameStyle) -> DisplayNames:
        """Return the same names in another style."""
        other = object.__new__(DisplayNames)
        other.__dict__.update(self.__dict__, style=style)
        return other

    def entity(self, name: str) -> str:
        """Return how an entity is shown."""
        return self._entities.shown(name, self.style)

    def relation(self, name: str) -> str:
        """Return how a relation is shown."""
        return self._relations.shown(name, self.style)

    def fact(self, fact: Fact | Query) -> str:
        """Return how a fact, or a question, is shown: ``relation(subject, object)``."""
        subject, object = ("?" if name is None else self.entity(name) for name in (fact.subject, fact.object))
        return f"{'?' if fact.relation is None else self.relation(fact.relation)}({subject}, {object})"

    def find(self, text: str, names: Names) -> list[str]:
        """Return the full names that a text can mean: one of ``names`` itself, a short form, a local name, a label.

        The first of these ways that finds any name counts. Several names mean that the text is ambiguous.
        """
        return self._index_of(names).find(text)

    def suggestion(self, text: str, names: Names) -> str:
        """Return ``"; did you mean 'x'?"`` for the nearest short form or local name, or an empty string."""
        return self._index_of(names).suggestion(text)

    def _index_of(self, names: Names) -> _Index:
        return self._relations if names is self._relations.names else self._entities


class _Index:
    """The short forms, local names and labels of one vocabulary, found only when they are asked for."""

    def __init__(self, names: Names, prefixes: Prefixes, labels: Labels) -> None:
        self.names, self._prefixes, self._labels = names, prefixes, labels
        self._shown: dict[tuple[str, NameStyle], str] = {}

    def shown(self, name: str, style: NameStyle) -> str:
        if style == "full":
            return name
        if (name, style) not in self._shown:
            self._shown[name, style] = self._labelled(name) if style == "label" else self._short(name)
        return self._shown[name, style]

    def _short(self, name: str) -> str:
        short = self._prefixes.shorten(name)
        if short is None and is_iri(name):
            local = local_name(name)
            short = None if local in self._shared or local.startswith("?") else local
        return name if short is None or short in self.names else short

    def _labelled(self, name: str) -> str:
        label, short = self._labels.best(name), self.shown(name, "short")
        if label is None:
            return short
        with_short = f"{label} ({short})"
        if self._by_label(label) == [name] and self._by_name(label) in ([], [name]):
            return label
        return with_short if _WITH_SHORT.fullmatch(with_short) and not self._by_name(with_short) else short

    @cached_property
    def _has_locals(self) -> bool:
        return any(local_name(name) != name for name in self.names)

    @cached_property
    def _locals(self) -> Any:
        """The local name of each name, as pyarrow's text: millions take seconds in Python."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = pa.array(list(self.names), pa.large_string())
        found = pc.replace_substring_regex(names, pattern=BEFORE_LOCAL, replacement="")
        return pc.if_else(pc.equal(found, ""), names, found)

    @cached_property
    def _shared(self) -> set[str]:
        """The local names that more than one name has."""
        import pyarrow.compute as pc

        counts = pc.value_counts(self._locals)
        return set(counts.field("values").filter(pc.greater(counts.field("counts"), 1)).to_pylist())

    def find(self, text: str) -> list[str]:
        found = self._by_name(text) or self._by_label(text)
        if not found and (both := _WITH_SHORT.fullmatch(text)):
            label, short = both.groups()
            found = [name for name in self._by_name(short) if name in self._by_label(label)]
        return found

    def _by_name(self, text: str) -> list[str]:
        if text in self.names:
            return [text]
        if text.startswith("<") and text[1:-1] in self.names:
            return [text[1:-1]]
        whole = self._prefixes.expand(text)
        if whole is not None and whole in self.names:
            return [whole]
        if not self._has_locals:
            return []
        import pyarrow.compute as pc

        return [self.names[place] for place in pc.indices_nonzero(pc.equal(self._locals, text)).to_pylist()]

    def _by_label(self, text: str) -> list[str]:
        return [name for name in self._labels.named(text) if name in self.names]

    def suggestion(self, text: str) -> str:
        if len(self.names) > _MOST_COMPARED:
            return self.names.suggestion(text)
        known: dict[str, None] = {}
        for name in self.names:
            known[self.shown(name, "short")] = None
            known[local_name(name)] = None
        return did_you_mean(text, known)
