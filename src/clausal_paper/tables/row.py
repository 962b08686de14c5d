"""A row of a table, the paper's or one beyond it: its name, its data, its clauses and the settings it is trained by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar

from clausal.errors import InputError, did_you_mean
from clausal.evaluation.evaluate import Filter
from clausal.graph.graph import Graph
from clausal.logic import Clause, one_atom_rule, shape_of
from clausal_paper.tables.limited import limit

Uses = Literal["none", "one-atom", "all"]


@dataclass(frozen=True)
class TableRow(ABC):
    """One row of a table, or one place of a table of limited data, where ``share`` of the facts is kept."""

    titles: ClassVar[Mapping[str, str]]
    """How tables for people name each model."""

    table: str
    model: str
    share: float | None = None

    @property
    def name(self) -> str:
        """How results files and ``--rows`` name it."""
        return self.model if self.share is None else f"{self.model}-{100 * self.share:.0f}"

    @property
    def title(self) -> str:
        """How tables for people name it."""
        title = self.titles[self.model]
        return title if self.share is None else f"{title}, {self.share:.0%}"

    @property
    @abstractmethod
    def preset(self) -> str:
        """The preset it is trained by."""

    @property
    @abstractmethod
    def uses(self) -> Uses:
        """Which of the data set's clauses it is trained with."""

    @property
    @abstractmethod
    def filters(self) -> tuple[Filter, ...]:
        """The filters that it is measured with where test has parts."""

    @property
    def changes(self) -> tuple[str, ...]:
        """Its own changes of the preset, as ``section.key=value``."""
        return ()

    @property
    def is_kale(self) -> bool:
        """Whether it is KALE's, with settings of its own in place of a preset."""
        return False

    @property
    def on_closure(self) -> bool:
        """Whether the closure of train is what it is trained on."""
        return False

    @property
    def entails(self) -> bool:
        """Whether it is measured with the closure of train first, too."""
        return False

    def graph(self, graph: Graph, clauses: Sequence[Clause], seed: int) -> Graph:
        """Return the data set as this row sees it: whole, or limited to its share by this seed."""
        return graph if self.share is None else limit(graph, clauses, self.share, seed)

    def clauses(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return those of the data set's clauses that this row uses."""
        if self.uses == "none":
            return []
        return [clause for clause in clauses if self.uses == "all" or one_atom_rule(shape_of(clause)[0])]


R = TypeVar("R", bound=TableRow)


def choose_rows(rows: Iterable[R], names: Sequence[str], table: str) -> list[R]:
    """Return all rows of a table, or those of the given names, in the order of the table."""
    known = {row.name: row for row in rows}
    for name in names:
        if name not in known:
            raise InputError(
                f"unknown row '{name}' of {table}{did_you_mean(name, known)}; the rows are {', '.join(known)}"
            )
    return [row for name, row in known.items() if not names or name in names]
