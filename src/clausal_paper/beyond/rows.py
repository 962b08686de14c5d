"""The rows of the tables beyond the paper: one preset for each benchmark, and the few changes that tell rows apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clausal.evaluation.evaluate import Filter
from clausal_paper.tables.paper import SHARES
from clausal_paper.tables.row import TableRow, Uses, choose_rows

_WITHOUT = ("clauses.adversary=none",)

_TITLES = {
    "base": "no clauses",
    "closure": "no clauses, trained on the closure",
    "gradient": "all clauses, gradient ascent",
    "one-atom": "one-atom clauses, closed form",
    "all": "all clauses, closed form",
    "mined": "mined clauses, closed form",
}


@dataclass(frozen=True)
class BeyondRow(TableRow):
    """One row of a table beyond the paper."""

    titles = _TITLES

    @property
    def preset(self) -> str:
        """The preset of the benchmark, which is one with clauses."""
        return f"{self.table}-best"

    @property
    def uses(self) -> Uses:
        """Which clauses: those of the data set, or those that were mined for it."""
        if self.model in ("base", "closure"):
            return "none"
        return "one-atom" if self.model == "one-atom" else "all"

    @property
    def changes(self) -> tuple[str, ...]:
        """What makes it differ from the preset."""
        return _WITHOUT if self.uses == "none" else _CHANGES.get(self.model, ())

    @property
    def filters(self) -> tuple[Filter, ...]:
        """The full filter alone."""
        return ("full",)

    @property
    def on_closure(self) -> bool:
        """Whether the closure of train is what it is trained on."""
        return self.model == "closure"

    @property
    def entails(self) -> bool:
        """Whether the benchmark has clauses that hold; what mined ones conclude is not certain."""
        return self.table in ("fb122", "wn18", "wn18-limited")


# A clause's violations on ten sets add up, where a closed form has one.
_CHANGES = {"gradient": ("clauses.adversary=gradient", "clauses.weight=0.001")}

_MODELS = {
    "fb122": ("base", "closure", "gradient", "one-atom", "all"),
    "wn18": ("base", "all"),
    "wn18rr": ("base",),
    "fb15k-237": ("base", "mined"),
}
TABLES: dict[str, tuple[BeyondRow, ...]] = {
    **{table: tuple(BeyondRow(table, model) for model in models) for table, models in _MODELS.items()},
    "wn18-limited": tuple(BeyondRow("wn18-limited", model, share) for share in SHARES for model in ("base", "all")),
}

DATA_SETS = {table: "wn18" if table == "wn18-limited" else table for table in TABLES}
"""The data set of each table."""


def rows_of(table: str, names: Sequence[str] = ()) -> list[BeyondRow]:
    """Return the rows of a table, or those of the given names, in the order of the table."""
    return choose_rows(TABLES[table], names, table)
