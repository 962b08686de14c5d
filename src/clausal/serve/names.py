"""Names as people search for them: by the beginning or any part of a name, a short name or a label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.graph.graph import Graph
from clausal.graph.labels import Labels
from clausal.graph.prefixes import is_iri
from clausal.graph.vocabulary import Names
from clausal.logic.printer import print_clause
from clausal.logic.syntax import Clause

Counts = NDArray[np.int64]


class NameSearch:
    """Finds names of one kind as they are typed; those of many facts first."""

    def __init__(self, names: Names, counts: Counts, others: Callable[[], Iterable[tuple[str, str]]]) -> None:
        self.names, self.counts = names, counts
        self._others, self._lock = others, Lock()
        """Other texts that a name is found by, as pairs of the name and the text."""

    @cached_property
    def _texts(self) -> list[tuple[Any, Counts]]:
        """What is searched, in small letters, and the id of the name that each text is of."""
        import pyarrow as pa
        import pyarrow.compute as pc

        pairs = [(name, text) for name, text in self._others() if name in self.names]
        return [
            (pc.utf8_lower(pa.array(texts, pa.large_string())), ids)
            for texts, ids in (
                (list(self.names), np.arange(len(self.names))),
                ([text for _, text in pairs], self.names.ids(name for name, _ in pairs).astype(np.int64)),
            )
            if texts
        ]

    def find(self, text: str, limit: int, offset: int = 0) -> tuple[list[int], int]:
        """Return the ids of the names that a text is a part of, and how many there are.

        Equal ones come first, then those that begin so, then those with a word that begins so, then all others.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        text = pc.utf8_lower(pa.scalar(text.strip())).as_py()
        places = np.full(len(self.names), 4 if text else 0, np.int8)
        with self._lock:  # the first one makes the index
            indexed = self._texts
        for texts, ids in indexed if text else []:
            for place, found in (
                (3, pc.match_substring(texts, text)),
                (2, pc.match_substring_regex(texts, r"(?:^|[\s_./#:()-])" + _escaped(text))),
                (1, pc.starts_with(texts, text)),
                (0, pc.equal(texts, text)),
            ):
                np.minimum.at(places, ids[found.to_numpy(zero_copy_only=False)], np.int8(place))
        chosen = np.flatnonzero(places < 4)
        order = np.lexsort((chosen, -self.counts[chosen], places[chosen]))[offset : offset + limit]
        return chosen[order].tolist(), len(chosen)


def _escaped(text: str) -> str:
    """Return a text as RE2 reads it letter by letter."""
    return "".join(letter if letter.isalnum() else f"\\x{{{ord(letter):x}}}" for letter in text)


class ServedNames:
    """The names of a graph: how they are shown, and found."""

    def __init__(self, graph: Graph) -> None:
        facts, count = graph.known, len(graph.entities)
        ends = np.bincount(facts[:, 0], minlength=count) + np.bincount(facts[:, 2], minlength=count)
        relations = np.bincount(facts[:, 1], minlength=len(graph.relations))
        self._short, self._label = graph.display.styled("short"), graph.display.styled("label")
        self._labels = Labels(graph.literals)
        self.plain = graph.literals is None and not any(
            is_iri(name) for names in (graph.entities, graph.relations) for name in names
        )
        """Whether all names are shown as they are."""
        self.entities = NameSearch(graph.entities, ends, lambda: self._others(graph.entities, self._short.entity))
        self.relations = NameSearch(
            graph.relations, relations, lambda: self._others(graph.relations, self._short.relation)
        )

    def _others(self, names: Names, short: Callable[[str], str]) -> Iterator[tuple[str, str]]:
        if self.plain:
            return
        yield from ((name, shown) for name in names if (shown := short(name)) != name)
        yield from self._labels.all()

    def described(self, kind: str, name: str) -> dict[str, Any]:
        """Return a name with its short form and its label."""
        if self.plain:
            return {"name": name, "short": name, "label": None}
        of_entity = kind == "entities"
        short = self._short.entity(name) if of_entity else self._short.relation(name)
        label = self._label.entity(name) if of_entity else self._label.relation(name)
        return {"name": name, "short": short, "label": None if label == short else label}

    def clause(self, clause: Clause) -> str:
        """Return a clause as it is shown."""
        return str(clause) if self.plain else print_clause(clause, names=self._label)

    def shown(self, facts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Return how names of facts are shown, for those that are shown otherwise; nothing where there are none."""
        if self.plain:
            return {}
        found: dict[str, str] = {}
        for fact in facts:
            for place, show in (
                ("subject", self._label.entity),
                ("relation", self._label.relation),
                ("object", self._label.entity),
            ):
                name = fact.get(place)
                if name is not None and name not in found:
                    found[name] = show(name)
        return {"names": {name: shown for name, shown in found.items() if shown != name}}

    def shown_in(self, results: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Return how the names of the answers to questions are shown, for those that are shown otherwise."""
        if self.plain:
            return {}
        return self.shown(row for result in results for row in (result["query"], *result["answers"]))
