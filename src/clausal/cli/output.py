"""How results are printed: a table for people, JSON or CSV for programs; messages go to stderr."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from operator import gt
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from clausal.errors import shortened

if TYPE_CHECKING:
    from clausal.evaluation import Classification


_WIDE = 200  # where there is no terminal to fit into
_ANY = 10_000  # wider than any table
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")

_METRICS = {
    "mrr": "MRR",
    "hits@1": "Hits@1",
    "hits@3": "Hits@3",
    "hits@5": "Hits@5",
    "hits@10": "Hits@10",
    "mean_rank": "mean rank",
    "median_rank": "median rank",
    "count": "facts",
}
_CLASSIFICATION = {
    "accuracy": "accuracy",
    "f1": "F1",
    "auc_pr": "AUC-PR",
    "auc_roc": "AUC-ROC",
    "log_loss": "log loss",
    "brier": "Brier",
    "ece": "ECE",
    "count": "facts",
    "positives": "true",
}


class Format(StrEnum):
    """Output formats of every command that prints results."""

    table = "table"
    json = "json"
    csv = "csv"


FormatOption = Annotated[Format, typer.Option("--format", help="How to print the results.")]

Row = Mapping[str, Any]


def stdout() -> Console:
    """Return the console for results."""
    console = _console()
    return console if console.is_terminal else _console(width=_WIDE)


def stderr() -> Console:
    """Return the console for progress and messages."""
    return _console(stderr=True, soft_wrap=True)


def _console(**options: Any) -> Console:
    """Return a console that prints text as it is: ``:smile:`` and numbers in a name mean nothing to it."""
    return Console(highlight=False, emoji=False, **options)


def say(message: str) -> None:
    """Print a message for people on stderr."""
    stderr().print(Text(printable(shortened(message))))


def printable(text: str) -> str:
    """Show control characters as escapes: a name from a file must not be able to steer the terminal."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def print_results(
    format: Format, rows: Sequence[Row], payload: Any, title: str | None = None, columns: Sequence[str] = ()
) -> None:
    """Print ``rows`` as a table or CSV, or ``payload`` as JSON; ``columns`` name those of CSV without rows."""
    if format is Format.json:
        # Elsewhere what the encoding lacks would be written as \\xe9, which is no JSON, and the rest not as UTF-8.
        utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        print(json.dumps(payload, indent=2, ensure_ascii=not utf8))
    elif format is Format.csv:
        writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]) if rows else columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    elif rows:
        print_table(rows, title)


def print_table(rows: Sequence[Row], title: str | None = None) -> None:
    """Print rows as a table, in a closer layout where the terminal is too narrow for the usual one."""
    console = stdout()
    if title is not None:  # by itself: as a part of a table it would be wrapped to the table's width
        console.print(Text(printable(title), style="bold"), soft_wrap=True)
    table = _make_table(rows)
    wanted = console.measure(table, options=console.options.update(width=_ANY)).maximum
    console.print(table if wanted <= console.width else _make_table(rows, console.width))


def print_text(text: str) -> None:
    """Print lines as they are, however long: a terminal wraps them, and a file keeps them whole."""
    stdout().print(Text(printable(text)), soft_wrap=True)


def _make_table(rows: Sequence[Row], room: int | None = None) -> Table:
    """Lay out rows as a table, numbers to the right; in little ``room``, close and with headings of several lines."""
    table = Table(header_style="bold", padding=(0, 1 if room is None else 0))
    for name in rows[0] if rows else {}:
        value = next((row[name] for row in rows if row[name] is not None), None)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        header = Text(printable(name) if room is None else printable(name).replace("_", "_\n"))
        table.add_column(header, justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    if room is not None:
        borders = len(table.columns) + 1
        for column, width in zip(table.columns, _fitting_widths(table, room - borders), strict=True):
            column.width = width
    return table


def _fitting_widths(table: Table, room: int) -> list[int]:
    """Return widths of columns that fit: the widest give way first, and words are broken only where all else fails.

    Rich breaks words of some columns while others could still be wrapped.
    """
    texts = [[Text(str(cell)) for cell in (column.header, *column.cells)] for column in table.columns]
    widths = [max(text.cell_len for cell in cells for text in cell.split("\n")) for cells in texts]
    words = [[cell_len(word) for cell in cells for word in cell.plain.split()] for cells in texts]
    for least in ([max(lengths, default=1) for lengths in words], [1] * len(widths)):
        while sum(widths) > room and any(map(gt, widths, least)):
            widths[max(range(len(widths)), key=lambda at: (widths[at] > least[at], widths[at]))] -= 1
    return widths


def _cell(value: Any) -> Text:
    """Return a value as text that is printed as it is: ``[x]`` and ``:x:`` in a name mean nothing to rich."""
    if value is None:
        return Text("")
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, float):
        return Text(f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}")
    return Text(f"{value:,}" if isinstance(value, int) else printable(str(value)))


def metric_row(label: str, metrics: Mapping[str, Any], **first: Any) -> dict[str, Any]:
    """Return one row of metrics under their printed names."""
    return {"facts ranked": label, **first, **{title: metrics[key] for key, title in _METRICS.items()}}


def evaluation_rows(result: Mapping[str, Any], *, raw: bool = False) -> list[dict[str, Any]]:
    """Return the rows of an evaluation: the split, its sides, its parts, its relations, and raw if wanted."""
    split = str(result["split"])
    rows = [metric_row(split, result["filtered"]["both"])]
    rows += [metric_row(f"{split}, {side}s", result["filtered"][side]) for side in ("subject", "object")]
    rows += [metric_row(part, metrics["filtered"]["both"]) for part, metrics in result["parts"].items()]
    if raw:
        rows.append(metric_row(f"{split}, raw", result["raw"]["both"]))
        rows += [metric_row(f"{part}, raw", metrics["raw"]["both"]) for part, metrics in result["parts"].items()]
    rows += [metric_row(name, metrics) for name, metrics in result["relations"].items()]
    return rows


def classification_rows(result: Classification, what: str, relations: bool) -> list[dict[str, Any]]:
    """Return the rows of a classification: all its facts, and those of each relation if wanted."""
    groups = {what: result.measures, **(result.relations if relations else {})}
    return [
        {"facts classified": name, **{title: found[key] for key, title in _CLASSIFICATION.items() if key in found}}
        for name, found in groups.items()
    ]
