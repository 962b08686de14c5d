"""The graph: facts as integer columns, split into train, valid and test, and the vocabulary behind them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from clausal.errors import InputError
from clausal.graph.facts import Facts as Facts
from clausal.graph.facts import no_facts as no_facts
from clausal.graph.splits import DrawnSplit, split_facts
from clausal.graph.vocabulary import Names

_PART_NAME = re.compile(r"[^\x00-\x1f\x7f/\\:.][^\x00-\x1f\x7f/\\:]{0,99}")


@dataclass(frozen=True, eq=False)
class Graph:
    """A knowledge graph: train, valid and test facts over one vocabulary.

    ``parts`` are named subsets of the test facts, such as ``test-I`` and ``test-II``.
    ``duplicates`` counts the repeated facts that were dropped, by split.
    ``notes`` are sentences a user should read, such as how many facts of test also occur in train.
    ``drawn`` says how valid and test were held out at random, where they were.
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

    @classmethod
    def from_triples(cls, train: Any, valid: Any = None, test: Any = None, *, name: str = "graph") -> Graph:
        """Make a graph from names: iterables of (subject, relation, object), or data frames.

        A data frame's columns are found by name (subject, relation, object); without such names the first
        three are taken in that order. ``Graph.from_triples(frame).split()`` holds out valid and test facts.
        """
        from clausal.graph.assembly import build_graph  # these import pyarrow when called
        from clausal.graph.python_triples import table_of_triples

        given = {"train": train, "valid": valid, "test": test}
        tables = {split: table_of_triples(triples, split) for split, triples in given.items() if triples is not None}
        return build_graph(tables, name=name)

    @property
    def splits(self) -> dict[str, Facts]:
        """The three splits by name."""
        return {"train": self.train, "valid": self.valid, "test": self.test}

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
            notes += (f"{held_out:,} facts are held out, not {asked:,}: train needs the rest to keep every name",)
        drawn = DrawnSplit(valid, test, seed)
        return replace(self, train=train, valid=valid_facts, test=test_facts, parts={}, notes=notes, drawn=drawn)

    def summary(self) -> str:
        """Describe the graph in one line."""
        sizes = " / ".join(f"{len(facts):,}" for facts in self.splits.values())
        dropped = sum(self.duplicates.values())
        note = f", {dropped:,} duplicates dropped" if dropped else ""
        return (
            f"{self.name}: {len(self.entities):,} entities, {len(self.relations):,} relations, "
            f"{sizes} facts (train / valid / test){note}"
        )


def check_part_name(name: str) -> None:
    """Refuse a name of a part that is a path or cannot name a file: a part is written to a file of its name."""
    if not _PART_NAME.fullmatch(name) or name in ("train", "valid", "test"):
        raise InputError(
            f"{name!r} cannot name a part of test; expected a name such as 'test-I': up to 100 characters, "
            "without / \\ : or control characters and without a dot in front"
        )
