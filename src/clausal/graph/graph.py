"""The graph: facts as integer columns, split into train, valid and test, and the vocabulary behind them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from clausal.errors import InputError, count
from clausal.graph.display import DisplayNames
from clausal.graph.facts import Facts as Facts
from clausal.graph.facts import drop_duplicates
from clausal.graph.facts import no_facts as no_facts
from clausal.graph.splits import DrawnSplit, split_entities, split_facts
from clausal.graph.vocabulary import Names

_PART_NAME = re.compile(r"[^\x00-\x1f\x7f/\\:.][^\x00-\x1f\x7f/\\:]{0,99}")


@dataclass(frozen=True, eq=False)
class Graph:
    """A knowledge graph: train, valid and test facts over one vocabulary.

    ``parts`` are named subsets of the test facts, such as ``test-I`` and ``test-II``.
    ``duplicates`` counts the repeated facts that were dropped, by split.
    ``notes`` are sentences a user should read, such as how many facts of test also occur in train.
    ``drawn`` says how valid and test were held out at random, where they were.
    ``prefixes`` are short forms of the beginnings of IRIs, as an RDF file declares them: ``brick`` for its IRI.
    ``literals`` are the texts and numbers of entities, which are no facts, as a pyarrow table of the columns subject,
    property, value, language and datatype, all of them text; the last two are empty where there is none.
    ``source`` says where the facts were read: a path, or the address and the query of a database without its secrets.
    """

    entities: Names
    relations: Names
    train: Facts
    valid: Facts = field(default_factory=no_facts)
    test: Facts = field(default_factory=no_facts)
    parts: Mapping[str, Facts] = field(default_factory=dict)
    name: str = "graph"
    duplicates: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    drawn: DrawnSplit | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)
    literals: Any = None
    source: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_triples(
        cls,
        train: Any,
        valid: Any = None,
        test: Any = None,
        *,
        columns: str | Sequence[str] = "sro",
        name: str = "graph",
    ) -> Graph:
        """Make a graph from names in Python: data frames, tuples, graphs of NetworkX, triples factories of PyKEEN.

        A data frame is whatever speaks Arrow's protocol. Its columns are found by their usual names, such as source,
        type, target, or by ``columns``, the names of three; only columns without names are taken in their order.
        ``Graph.from_triples(frame).split()`` holds out valid and test facts, as ``load_graph(frame)`` does at once.
        """
        from clausal.graph.assembly import build_graph  # these import pyarrow when called
        from clausal.graph.columns import parse_columns
        from clausal.graph.python_triples import table_of_triples

        chosen, notes = parse_columns(columns), list[str]()
        given = {"train": train, "valid": valid, "test": test}
        tables = {
            split: table_of_triples(triples, chosen, split, notes.append)
            for split, triples in given.items()
            if triples is not None
        }
        return build_graph(tables, name=name, notes=notes)

    @property
    def splits(self) -> dict[str, Facts]:
        """The three splits by name."""
        return {"train": self.train, "valid": self.valid, "test": self.test}

    @cached_property
    def display(self) -> DisplayNames:
        """How names are shown, and found again by a short form or a label."""
        return DisplayNames(self.entities, self.relations, self.prefixes, self.literals)

    @property
    def known(self) -> Facts:
        """Every fact of every split: what the filter of a filtered ranking holds."""
        return np.concatenate([self.train, self.valid, self.test])

    def split(self, *, valid: float = 0.1, test: float = 0.1, seed: int = 0) -> Graph:
        """Hold out valid and test facts from train at random; train keeps every entity and relation."""
        train, valid_facts, test_facts = split_facts(self.train, valid=valid, test=test, seed=seed)
        asked, held_out = round((valid + test) * len(self.train)), len(valid_facts) + len(test_facts)
        notes = self.notes
        if held_out < asked - 1:  # shares are rounded one by one
            notes += (f"{count(held_out, 'fact')} held out, not {asked:,}: train needs the rest to keep every name",)
        drawn = DrawnSplit(valid, test, seed)
        return replace(self, train=train, valid=valid_facts, test=test_facts, parts={}, notes=notes, drawn=drawn)

    def split_by_entities(self, *, valid: float = 0.1, test: float = 0.1, seed: int = 0) -> Graph:
        """Hold out entities with all their facts, from every split together: train never has those of test.

        The parts of test say how many of a fact's entities are unseen, one or two. Names that have no facts are left.
        """
        facts = drop_duplicates(self.known, len(self.entities), len(self.relations))
        found = split_entities(facts, len(self.entities), valid=valid, test=test, seed=seed)
        drawn = DrawnSplit(valid, test, seed)
        return replace(
            self, train=found.train, valid=found.valid, test=found.test, parts=found.parts, notes=(), drawn=drawn
        )

    def __repr__(self) -> str:
        return f"<Graph {self.summary()}>"

    def _repr_html_(self) -> str:
        from clausal.drawing import notebook
        from clausal.graph.html import graph_html

        return notebook(graph_html(self))

    def summary(self) -> str:
        """Describe the graph in one line."""
        sizes = " / ".join(f"{len(facts):,}" for facts in self.splits.values())
        dropped = sum(self.duplicates.values())
        note = f", {count(dropped, 'duplicate')} dropped" if dropped else ""
        entities, relations = count(len(self.entities), "entity", "entities"), count(len(self.relations), "relation")
        return f"{self.name}: {entities}, {relations}, {sizes} facts (train / valid / test){note}"


def check_part_name(name: str) -> None:
    """Refuse a name of a part that is a path or cannot name a file: a part is written to a file of its name."""
    if not _PART_NAME.fullmatch(name) or name in ("train", "valid", "test"):
        raise InputError(
            f"{name!r} cannot name a part of test; expected a name such as 'test-I': up to 100 characters, "
            "without / \\ : or control characters and without a dot in front"
        )
