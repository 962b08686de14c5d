"""The rows of the paper's tables: which model, which of the data set's clauses, and the preset it is trained by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clausal.evaluation.evaluate import Filter
from clausal_paper.tables.paper import SHARES, Figures, paper_figures
from clausal_paper.tables.row import TableRow, Uses, choose_rows

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


@dataclass(frozen=True)
class Row(TableRow):
    """One row of the paper's tables."""

    titles = _TITLES

    @property
    def preset(self) -> str:
        """The preset it is trained by; KALE's rows have their settings elsewhere."""
        return f"{self.table}-{self.model}"

    @property
    def is_kale(self) -> bool:
        """Whether it is one of the rows that the paper copied from Guo et al."""
        return self.model in _KALE

    @property
    def on_closure(self) -> bool:
        """Whether the closure of train is what it is trained on: KALE-Pre is."""
        return self.model == "kale-pre"

    @property
    def filters(self) -> tuple[Filter, ...]:
        """The full filter, and the one that the paper probably used."""
        return "full", "partial"

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


_KALE = ("transe", "kale-pre", "kale-joint")
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
    return choose_rows(TABLES[table], names, table)
