"""The section on robustness: rows of FB122 certified by all of its clauses, from results/paper/certify."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from clausal.files import read_json
from clausal_paper.report.records import made_on, notes, table
from clausal_paper.tables.robustness import ROWS
from clausal_paper.tables.rows import paper_rows
from clausal_paper.tables.run import Record

ATOMS = {1: "one-atom clauses", 2: "two-atom clauses"}
"""The kinds of clauses by the atoms of their bodies."""

_ABOUT = """\
Is a model that was trained with clauses more robust? Rows of FB122 were trained from their presets, and the model that
was best on valid was [certified](explanation/certificates.md) by all 47 clauses of the data set, whatever it was
trained with. A *bound* says how much any vectors of the cube can violate a clause at most; some vectors attain nearly
all of it. Violations are differences of scores, and scores grow with the margin γ, so all are given in margins.
*Broken* is the share of assignments of real entities that violate a clause by more than a hundredth of a margin, *by*
the mean violation over all assignments. Means over clauses, then over seeds."""


class Row:
    """What records say of a row: means over clauses and seeds, in margins."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = records

    @property
    def margin(self) -> float:
        """The margin that it was trained with."""
        return float(self.records[0]["settings"]["facts"]["margin"])

    def count(self, atoms: int) -> int:
        """Return how many of the clauses have so many atoms in the body."""
        return len(self._of(self.records[0], atoms))

    def bound(self, atoms: int) -> float:
        """Return the mean bound of clauses with so many atoms in the body."""
        return self._mean(atoms, lambda one: one["bound"]) / self.margin

    def rate(self, atoms: int) -> float:
        """Return the share of assignments of real entities that violate them."""
        return self._mean(atoms, lambda one: one["entities"]["rate"])

    def size(self, atoms: int) -> float:
        """Return the mean violation over assignments of real entities."""
        return self._mean(atoms, lambda one: one["entities"]["mean"]) / self.margin

    def _mean(self, atoms: int, figure: Callable[[dict[str, Any]], float]) -> float:
        return fmean(fmean(map(figure, self._of(record, atoms))) for record in self.records)

    @staticmethod
    def _of(record: Record, atoms: int) -> list[dict[str, Any]]:
        """Return the certificates of clauses with so many atoms in the body, which is what stands before the arrow."""
        return [one for one in record["clauses"] if one["clause"].partition(" => ")[0].count("(") == atoms]


def certified_rows(folder: Path) -> dict[str, Row]:
    """Return the rows that have records, in the order of the table."""
    records = [read_json(path) for path in sorted(folder.glob("*.json"))]
    by_row = {name: [record for record in records if record["row"] == name] for name in ROWS}
    return {name: Row(found) for name, found in by_row.items() if found}


def robustness_section(folder: Path) -> list[str]:
    """Return the lines of the section, from the files that ``clausal reproduce certify`` writes into a folder."""
    lines = ["## How robust the models are", "", "```console", "clausal reproduce certify", "```", ""]
    rows = certified_rows(folder)
    if not rows:
        return [*lines, "Nothing has been certified yet.", ""]
    titles = {row.name: row.title for row in paper_rows("fb122")}
    records = [record for row in rows.values() for record in row.records]
    counts = {atoms: next(iter(rows.values())).count(atoms) for atoms in ATOMS}
    head = [word for atoms, kind in ATOMS.items() for word in (f"{counts[atoms]} {kind}: bound", "broken", "by")]
    return [
        *lines,
        _ABOUT,
        "",
        *table(
            ["", "clauses in training", "γ", *head, "seeds"], [_line(titles[name], row) for name, row in rows.items()]
        ),
        f"Trained and certified on {made_on(records)}.",
        "",
        *notes(folder / "notes.md"),
    ]


def _line(title: str, row: Row) -> list[str]:
    figures = [
        word
        for atoms in ATOMS
        for word in (f"{row.bound(atoms):.2f}", f"{100 * row.rate(atoms):.2f} %", f"{row.size(atoms):.4f}")
    ]
    return [title, str(row.records[0]["trained_with"]), f"{row.margin:g}", *figures, str(len(row.records))]
