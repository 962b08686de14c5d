"""The rows of the paper's tables: which model, which of the data set's clauses, and the preset it is trained by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from clausal.errors import InputError, did_you_mean
from clausal.experiments.tables.limited import limit
from clausal.experiments.tables.paper import SHARES, Figures, paper_figures
from clausal.graph.graph import Graph
from clausal.logic import Clause, one_atom_rule, shape_of

Uses = Literal["none", "one-atom", "all"]


@dataclass(frozen=True)
class Row:
    """One row of a table, or one place of the table of limited data, where ``share`` of the facts is kept."""

    table: str
    model: str
    share: float | None = None

    @property
    def name(self) -> str:
        """How results files and ``--rows`` name it."""
        return self.model if self.share is None else f"{self.model}-{100 * self.share:.0f}"

    @property
    def title(self) -> str:
        """How the paper names it."""
        title = _TITLES[self.model]
        return title if self.share is None else f"{title}, {self.share:.0%}"

    @property
    def preset(self) -> str:
        """The preset it is trained by; KALE's rows have their settings elsewhere."""
        return f"{self.table}-{self.model}"

    @property
    def is_kale(self) -> bool:
        """Whether it is one of the rows that the paper copied from Guo et al."""
        return self.model in _KALE

    @property
    def uses(self) -> Uses:
        """Which clauses: the paper's closed forms are for one-atom bodies, and its cASR rows use only those."""
        if self.model.startswith("casr-"):
            return "one-atom"
        return "all" if self.model.startswith(("asr-", "kale-")) else "none"

    @property
    def paper(self) -> Figures:
        """The paper's numbers; nothing where the paper has no such row."""
        return paper_figures(self.table, self.model, self.share)

    def graph(self, graph: Graph, clauses: Sequence[Clause], seed: int) -> Graph:
        """Return the data set as this row sees it: whole, or limited to its share by this seed."""
        return graph if self.share is None else limit(graph, clauses, self.share, seed)

    def clauses(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return those of the data set's clauses that this row uses."""
        if self.uses == "none":
            return []
        return [clause for clause in clauses if self.uses == "all" or one_atom_rule(shape_of(clause)[0])]


_KALE = ("transe", "kale-pre", "kale-joint")
_TITLES = {
    "transe": "TransE",
    "kale-pre": "KALE-Pre",
    "kale-joint": "KALE-Joint",
    "distmult": "DistMult",
    "asr-distmult": "ASR-DistMult",
    "casr-distmult": "cASR-DistMult",
    "complex": "ComplEx",
    "asr-complex": "ASR-ComplEx",
    "casr-complex": "cASR-ComplEx",
}
_LIMITED = ("complex", "asr-complex", "casr-complex")

TABLES: dict[str, tuple[Row, ...]] = {
    "fb122": tuple(Row("fb122", model) for model in _TITLES),
    "wn18": tuple(Row("wn18", model) for model in _TITLES),
    "wn18-limited": tuple(Row("wn18-limited", model, share) for share in SHARES for model in _LIMITED),
}

DATA_SETS = {"fb122": "fb122", "wn18": "wn18", "wn18-limited": "wn18"}
"""The data set, and its clauses, of each table."""


def rows_of(table: str, names: Sequence[str] = ()) -> list[Row]:
    """Return the rows of a table, or those of the given names, in the order of the table."""
    known = {row.name: row for row in TABLES[table]}
    for name in names:
        if name not in known:
            raise InputError(
                f"unknown row '{name}' of {table}{did_you_mean(name, known)}; the rows are {', '.join(known)}"
            )
    return [row for name, row in known.items() if not names or name in names]
