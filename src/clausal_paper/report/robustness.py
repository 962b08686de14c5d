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

_ABOUT = """\
Is a model that was trained with clauses more robust? Rows of FB122 were trained from their presets, and the model that
was best on valid was [certified](explanation/certificates.md) by all 47 clauses of the data set, whatever it was
trained with. A *bound* says how much any vectors of the cube can violate a clause at most, *attained* how much some
vectors do. Violations are differences of scores, and scores grow with the margin γ, so all are given in margins.
*Broken* is the share of assignments of real entities that violate a clause by more than a hundredth of a margin, *by*
the mean violation over all assignments. Means over clauses, then over seeds."""
_HEAD = ["", "clauses in training", "γ", "mean bound", "largest bound", "mean attained", "broken", "by", "seeds"]


class Row:
    """What records say of a row: means over clauses and seeds, in margins."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = records

    @property
    def margin(self) -> float:
        return float(self.records[0]["settings"]["facts"]["margin"])

    def in_margins(self, figure: Callable[[Record], float | None]) -> float:
        """Return the mean over seeds of a figure of scores, over the margin."""
        found = [value for record in self.records if (value := figure(record)) is not None]
        return fmean(found) / self.margin

    @property
    def bound(self) -> float:
        return self.in_margins(lambda record: record["bound"])

    @property
    def rate(self) -> float:
        return fmean(record["rate"] for record in self.records)

    @property
    def size(self) -> float:
        """The mean violation over assignments of real entities."""
        return self.in_margins(lambda record: fmean(one["mean"] for one in _checks(record)))


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
    return [
        *lines,
        _ABOUT,
        "",
        *table(_HEAD, [_line(titles[name], row) for name, row in rows.items()]),
        f"Trained and certified on {made_on(records)}.",
        "",
        *notes(folder / "notes.md"),
    ]


def _line(title: str, row: Row) -> list[str]:
    largest = row.in_margins(lambda record: record["largest_bound"])
    attained = row.in_margins(lambda record: record["attained"])
    return [
        title,
        str(row.records[0]["trained_with"]),
        f"{row.margin:g}",
        *(f"{value:.2f}" for value in (row.bound, largest, attained)),
        f"{100 * row.rate:.2f} %",
        f"{row.size:.4f}",
        str(len(row.records)),
    ]


def _checks(record: Record) -> list[dict[str, Any]]:
    return [one["entities"] for one in record["clauses"] if one["entities"]]
