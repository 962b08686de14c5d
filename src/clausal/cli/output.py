"""How results are printed: a table for people, JSON or CSV for programs; messages go to stderr."""

from __future__ import annotations

import csv
import json
import math
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

from clausal.choices import NameStyle
from clausal.cli.fitting import fitted_lines, shortened_names, with_short_words
from clausal.errors import shortened

if TYPE_CHECKING:
    from clausal.evaluation import Classification
    from clausal.graph import Graph
    from clausal.graph.display import DisplayNames


_ANY = 1_000_000  # wider than any table: where there is no terminal, there is nothing to fit into
_READABLE, _LEGIBLE = 24, 12  # columns that a name gets before other columns are wrapped, and after
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

NamesOption = Annotated[
    NameStyle,
    typer.Option(
        "--names",
        help="How to show names that are IRIs: 'short' (brick:feeds, or feeds where that is unambiguous), 'label' "
        "(rdfs:label or skos:prefLabel in your language) or 'full'. JSON and CSV are always full.",
    ),
]

Row = Mapping[str, Any]


def shown_names(graph: Graph, style: NameStyle, format: Format) -> DisplayNames:
    """Return how a command shows names: as asked in a table, whole where programs read them."""
    return graph.display.styled(style if format is Format.table else "full")


def stdout() -> Console:
    """Return the console for results."""
    console = _console()
    return console if console.is_terminal else _console(width=_ANY)


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
    format: Format,
    rows: Sequence[Row],
    payload: Any,
    title: str | None = None,
    columns: Sequence[str] = (),
    *,
    names: Sequence[str] = (),
    spare: Sequence[str] = (),
    whole: bool = False,
) -> None:
    """Print ``rows`` as a table or CSV, or ``payload`` as JSON; ``columns`` name those of CSV without rows.

    ``names``, ``spare`` and ``whole`` are for a table, as in ``print_table``.
    """
    if format is Format.json:
        # Elsewhere what the encoding lacks would be written as \\xe9, which is no JSON, and the rest not as UTF-8.
        utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        print(json.dumps(_with_nulls(payload), indent=2, ensure_ascii=not utf8))
    elif format is Format.csv:
        writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]) if rows else columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    elif rows:
        print_table(rows, title, names=names, spare=spare, whole=whole)


def _with_nulls(payload: Any) -> Any:
    """Return a payload with null for numbers that JSON does not have: ∞, and what is none."""
    if isinstance(payload, float):
        return payload if math.isfinite(payload) else None
    if isinstance(payload, Mapping):
        return {name: _with_nulls(value) for name, value in payload.items()}
    if isinstance(payload, list | tuple):
        return [_with_nulls(value) for value in payload]
    return payload


def print_table(
    rows: Sequence[Row],
    title: str | None = None,
    *,
    names: Sequence[str] = (),
    spare: Sequence[str] = (),
    whole: bool = False,
) -> None:
    """Print rows as a table, in a closer layout where the terminal is too narrow for the usual one.

    There the columns ``spare`` are left out, and what stands in the columns ``names`` is kept to one line. Long words
    are shortened in the middle, or broken where they are to be ``whole``.
    """
    console = stdout()
    if title is not None:  # by itself: as a part of a table it would be wrapped to the table's width
        console.print(Text(printable(title), style="bold"), soft_wrap=True)
    fewer = [{name: value for name, value in row.items() if name not in spare} for row in rows]
    for table in (_make_table(rows), _make_table(fewer)):
        if console.measure(table, options=console.options.update(width=_ANY)).maximum <= console.width:
            console.print(table)
            return
    console.print(_make_table(fewer, console.width, () if whole else names, whole))


def print_text(text: str, *, whole: bool = False) -> None:
    """Print lines: a terminal gets them broken where they are too long for it, and a file as they are."""
    console = stdout()
    lines = printable(text).split("\n")
    if console.is_terminal:
        lines = [part for line in lines for part in fitted_lines(line, console.width, whole)]
    console.print(Text("\n".join(lines)), soft_wrap=True)


def _make_table(rows: Sequence[Row], room: int | None = None, names: Sequence[str] = (), whole: bool = False) -> Table:
    """Lay out rows as a table, numbers to the right; in little ``room``, close and with headings of several lines."""
    table = Table(header_style="bold", padding=(0, 1 if room is None else 0))
    titles = list(rows[0]) if rows else []
    headers = [printable(name) if room is None else printable(name).replace("_", "_\n") for name in titles]
    columns = [[_cell(row[name]) for row in rows] for name in titles]
    widths: list[int | None] = [None] * len(titles)
    if room is not None:
        one_line = [name in names for name in titles]
        widths = [*_fitting_widths(headers, columns, room - len(titles) - 1, one_line)]
        for place, width in enumerate([] if whole else widths):
            shorten = shortened_names if one_line[place] else with_short_words
            columns[place] = shorten(columns[place], width or 1)
    for name, header, width in zip(titles, headers, widths, strict=True):
        value = next((row[name] for row in rows if row[name] is not None), None)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        table.add_column(Text(header), justify="right" if number else "left", overflow="fold", width=width)
    for cells in zip(*columns, strict=True):
        table.add_row(*map(Text, cells))
    return table


def _fitting_widths(
    headers: Sequence[str], columns: Sequence[Sequence[str]], room: int, one_line: Sequence[bool]
) -> list[int]:
    """Return widths of columns that fit: the widest give way first, and words are broken only where all else fails.

    Rich breaks words of some columns while others could still be wrapped. What is to be on one line gives way until it
    would be hard to read, then others are wrapped, and then it gives way again.
    """
    lines = [[*header.split("\n"), *cells] for header, cells in zip(headers, columns, strict=True)]
    widths = [max(map(cell_len, texts)) for texts in lines]
    words = [max(cell_len(word) for text in texts for word in text.split() or [" "]) for texts in lines]
    stages = (
        [min(width, _READABLE) if one else width for width, one in zip(widths, one_line, strict=True)],
        [min(width, _READABLE) if one else word for width, word, one in zip(widths, words, one_line, strict=True)],
        [min(width, _LEGIBLE) if one else word for width, word, one in zip(widths, words, one_line, strict=True)],
        [1] * len(widths),
    )
    for least in stages:
        while sum(widths) > room and any(map(gt, widths, least)):
            widths[max(range(len(widths)), key=lambda at: (widths[at] > least[at], widths[at]))] -= 1
    return widths


def _cell(value: Any) -> str:
    """Return a value as it is written in a table."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if math.isinf(value):
            return "∞" if value > 0 else "−∞"
        return f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


def metric_row(label: str, metrics: Mapping[str, Any], **first: Any) -> dict[str, Any]:
    """Return one row of metrics under their printed names."""
    return {"facts ranked": label, **first, **{title: metrics[key] for key, title in _METRICS.items()}}


def evaluation_rows(
    result: Mapping[str, Any], *, raw: bool = False, names: DisplayNames | None = None
) -> list[dict[str, Any]]:
    """Return the rows of an evaluation: the split, its sides, its parts, its relations, and raw if wanted."""
    split = str(result["split"])
    rows = [metric_row(split, result["filtered"]["both"])]
    rows += [metric_row(f"{split}, {side}s", result["filtered"][side]) for side in ("subject", "object")]
    rows += [metric_row(part, metrics["filtered"]["both"]) for part, metrics in result["parts"].items()]
    if raw:
        rows.append(metric_row(f"{split}, raw", result["raw"]["both"]))
        rows += [metric_row(f"{part}, raw", metrics["raw"]["both"]) for part, metrics in result["parts"].items()]
    rows += [
        metric_row(name if names is None else names.relation(name), metrics)
        for name, metrics in result["relations"].items()
    ]
    return rows


def classification_rows(
    result: Classification, what: str, relations: bool, names: DisplayNames
) -> list[dict[str, Any]]:
    """Return the rows of a classification: all its facts, and those of each relation if wanted."""
    each = result.relations if relations else {}
    groups = {what: result.measures, **{names.relation(name): measures for name, measures in each.items()}}
    return [
        {"facts classified": name, **{title: found[key] for key, title in _CLASSIFICATION.items() if key in found}}
        for name, found in groups.items()
    ]
