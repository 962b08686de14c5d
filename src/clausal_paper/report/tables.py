"""The sections for FB122, WN18 and WN18 with limited data: every cell, the paper's filter and ties, and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from clausal_paper.report.markdown import MISSING, notes, table
from clausal_paper.report.records import chosen_settings, made_on, read_records
from clausal_paper.tables.comparison import Comparison, Key, compare
from clausal_paper.tables.paper import METRICS, PARTS
from clausal_paper.tables.rows import TABLES, Row
from clausal_paper.tables.run import Record

_TITLES = {"fb122": "FB122", "wn18": "WN18", "wn18-limited": "WN18 with limited training data"}
_PARTS = {"test-I": "Test-I", "test-II": "Test-II", "test": "Test-ALL"}
_METRICS = {"hits@3": "Hits@3", "hits@5": "Hits@5", "hits@10": "Hits@10", "mrr": "MRR"}


def table_section(name: str, folder: Path) -> list[str]:
    """Return the lines of a table's section, from the records in a folder and its ``notes.md``."""
    rows, records = TABLES[name], read_records(folder)
    cells = compare(rows, records)
    lines = [f"## {_TITLES[name]}", ""]
    for part in PARTS if records else ():
        metrics = [
            metric for metric in METRICS if any(key[1:] == (part, metric) and _shown(rows, key) for key in cells)
        ]
        if metrics:
            lines += [f"**{_PARTS[part]}**", ""]
            head = ["", *(_METRICS[metric] for metric in metrics)]
            known = [row for row in rows if any((row.name, part, metric) in cells for metric in metrics)]
            lines += table(head, [[row.title, *(_cell(cells, row, part, m) for m in metrics)] for row in known])
    if records:
        lines += _differing(cells, rows)
        lines += _as_the_paper_measured(rows, records)
        lines += _how(rows, records)
    else:
        lines += ["Nothing has been trained for this table yet.", ""]
    lines += ["```console", f"clausal reproduce {name}", "```", ""]
    return [*lines, *notes(folder / "notes.md")]


def _shown(rows: Sequence[Row], key: Key) -> bool:
    """Show of limited data what the paper shows."""
    limited = rows[0].share is not None
    return not limited or key[1:] in (("test", "hits@10"), ("test", "mrr"))


def _cell(cells: Mapping[Key, Comparison], row: Row, part: str, metric: str) -> str:
    return str(cells.get((row.name, part, metric), MISSING))


def _differing(cells: Mapping[Key, Comparison], rows: Sequence[Row]) -> list[str]:
    """Say how many cells differ from the paper, and list those that are below it."""
    compared = {key: cell for key, cell in cells.items() if cell.difference is not None}
    if not compared:
        return []
    titles = {row.name: row.title for row in rows}
    above = sum(cell.differs and cell.difference > 0 for cell in compared.values() if cell.difference)
    below = {key: cell for key, cell in compared.items() if cell.differs and (cell.difference or 0) < 0}
    agree = len(compared) - above - len(below)
    lines = [
        f"Of {len(compared)} cells, {agree} agree with the paper, {above} are above it ▲ and {len(below)} below ▼."
    ]
    for (row, part, metric), cell in below.items():
        by = f"{-(cell.difference or 0):.3f}" if metric == "mrr" else f"{-(cell.difference or 0):.1f} points"
        lines.append(f"- {titles[row]}, {_PARTS[part]}, {_METRICS[metric]}: {by} below")
    return ["\n".join([lines[0], "", *lines[1:]]) if len(lines) > 1 else lines[0], ""]


def _as_the_paper_measured(rows: Sequence[Row], records: Sequence[Record]) -> list[str]:
    """Return MRR with the paper's probable filter and ties, where there are parts."""
    cells = compare(rows, records, filter="partial", ties="optimistic")
    if not any(cell.ours for cell in cells.values()):
        return []
    trained = [row for row in rows if any(key[0] == row.name and cell.ours for key, cell in cells.items())]
    body = [[row.title, *(_cell(cells, row, part, "mrr") for part in PARTS)] for row in trained]
    return [
        "MRR as the paper probably measured it: partial filter, optimistic ties.",
        "",
        *table(["", *_PARTS.values()], body),
    ]


def _how(rows: Sequence[Row], records: Sequence[Record]) -> list[str]:
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
