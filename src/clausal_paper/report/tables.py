"""The sections for the paper's tables of link prediction: paper, best epoch and last epoch, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from clausal.evaluation import Filter, Ties
from clausal_paper.report.records import MISSING, chosen_settings, made_on, notes, read_records, table
from clausal_paper.tables.comparison import Comparison, Key, compare
from clausal_paper.tables.rows import PAPER_TABLES, PaperRow
from clausal_paper.tables.run import Record

TITLES = {"fb122": "FB122", "wn18": "WN18", "wn18-limited": "WN18 with limited training data"}
_PARTS = {"test-I": "Test-I", "test-II": "Test-II", "test": "Test-ALL"}
_HITS = {"hits@3": "Hits@3", "hits@5": "Hits@5", "hits@10": "Hits@10"}
_OWN = "Rows of our own, with the settings of the row that they are named after but for what they say:"
_AS_THE_PAPER = "MRR as the paper probably measured it: partial filter, optimistic ties."


class Column(NamedTuple):
    """What a group of columns shows: a metric of a part of test."""

    title: str
    part: str
    metric: str


_MRR = [Column(f"MRR {title}", part, "mrr") for part, title in _PARTS.items()]
_LIMITED = [Column("MRR", "test", "mrr"), Column("Hits@10", "test", "hits@10")]  # all that the paper has


class Cells(NamedTuple):
    """The cells of a table by the best epoch on valid and by the last one."""

    best: Mapping[Key, Comparison]
    last: Mapping[Key, Comparison]

    @classmethod
    def of(
        cls, rows: Sequence[PaperRow], records: Sequence[Record], filter: Filter = "full", ties: Ties = "realistic"
    ) -> Cells:
        """Compare records with the paper."""
        best, last = (compare(rows, records, filter=filter, ties=ties, of=epoch) for epoch in ("metrics", "last"))
        return cls(best, last)

    def shown(self, row: PaperRow, column: Column) -> list[str]:
        """Return the paper's figure, that of the best epoch and that of the last, marked where they differ."""
        key = (row.name, column.part, column.metric)
        best, last = self.best.get(key), self.last.get(key)
        return [best.published if best else MISSING, *(one.marked if one else MISSING for one in (best, last))]

    def has(self, row: PaperRow) -> bool:
        """Whether the row was trained."""
        return any(key[0] == row.name and cell.ours for key, cell in self.best.items())


def table_section(name: str, folder: Path) -> list[str]:
    """Return the lines of a table's section, from the records in a folder and its ``notes.md``."""
    rows, records = PAPER_TABLES[name], read_records(folder)
    lines = [f"## {TITLES[name]}", "", "```console", f"clausal reproduce {name}", "```", ""]
    if not records:
        return [*lines, "Nothing has been trained for this table yet.", "", *notes(folder / "notes.md")]
    cells = Cells.of(rows, records)
    limited = rows[0].share is not None
    papers, own = [row for row in rows if not row.variant], [row for row in rows if row.variant and cells.has(row)]
    lines += _agreement(cells)
    columns = _LIMITED if limited else _MRR
    lines += _compared(papers, cells, columns, records)
    if remarks := notes(folder / "notes.md"):
        lines += [f"### {TITLES[name]}: remarks", "", *remarks]
    lines += [f"### {TITLES[name]}: other measures and rows", ""] if not limited or own else []
    for part, title in () if limited else _PARTS.items():
        lines += [f"Hits on {title}, in percent:", ""]
        lines += _compared(papers, cells, [Column(name, part, metric) for metric, name in _HITS.items()], records)
    measured = Cells.of(rows, records, "partial", "optimistic")
    if any(measured.has(row) for row in papers):
        lines += [_AS_THE_PAPER, "", *_compared(papers, measured, _MRR, records)]
    if own:
        lines += [_OWN, "", *_compared(own, cells, columns, records, own=True)]
    return [*lines, f"### {TITLES[name]}: settings", "", *_how(rows, records)]


def _agreement(cells: Cells) -> list[str]:
    """Say how many cells agree with the paper, by either epoch."""
    words = []
    for epoch, found in (("the best epoch", cells.best), ("the last epoch", cells.last)):
        compared = [cell for cell in found.values() if cell.difference is not None]
        above = sum(cell.differs and (cell.difference or 0) > 0 for cell in compared)
        below = sum(cell.differs and (cell.difference or 0) < 0 for cell in compared)
        if compared:
            agree = len(compared) - above - below
            words.append(
                f"By {epoch}, of {len(compared)} cells of MRR and Hits {agree} agree with the paper, {above} are above "
                f"it ▲ and {below} below ▼."
            )
    return [*words, ""]


def _compared(
    rows: Sequence[PaperRow], cells: Cells, columns: Sequence[Column], records: Sequence[Record], own: bool = False
) -> list[str]:
    """Return a table of rows: paper, best epoch and last for each metric; rows of our own have nothing of the paper."""
    kinds = ["best", "last"] if own else ["paper", "best", "last"]
    head = [f"{column.title}: {kind}" if kind == kinds[0] else kind for column in columns for kind in kinds]
    body = [
        [row.title, *(text for column in columns for text in cells.shown(row, column)[-len(kinds) :]), seeds]
        for row in rows
        if (seeds := str(sum(record["row"] == row.name for record in records)))
    ]
    return table(["", *head, "seeds"], body)


def _how(rows: Sequence[PaperRow], records: Sequence[Record]) -> list[str]:
    """Return the settings of each row and what its trainings took."""
    body = []
    for row in rows:
        of_row = [record for record in records if record["row"] == row.name]
        if not of_row:
            continue
        seconds = [record["seconds"] for record in of_row]
        kept = [str(record["best_epoch"]) for record in of_row]
        body.append(
            [
                row.title,
                chosen_settings(of_row[0]),
                str(of_row[0]["clauses"]),
                ", ".join(str(record["seed"]) for record in of_row),
                ", ".join(kept),
                f"{sum(seconds) / len(seconds):.0f}",
            ]
        )
    head = ["", "settings", "clauses", "seeds", "best epoch", "seconds each"]
    return [*table(head, body), f"Trained on {made_on(records)}.", ""]
