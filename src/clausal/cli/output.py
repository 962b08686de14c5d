"""How results are printed: a table for people, JSON or CSV for programs; messages go to stderr."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

_WIDE = 200  # where there is no terminal to fit into
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


class Format(StrEnum):
    """Output formats of every command that prints results."""

    table = "table"
    json = "json"
    csv = "csv"


FormatOption = Annotated[Format, typer.Option("--format", help="How to print the results.")]

Row = Mapping[str, Any]


def stdout() -> Console:
    """Return the console for results."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDE)


def stderr() -> Console:
    """Return the console for progress and messages."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def say(message: str) -> None:
    """Print a message for people on stderr."""
    stderr().print(Text(printable(message)))


def printable(text: str) -> str:
    """Show control characters as escapes: a name from a file must not be able to steer the terminal."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def print_results(
    format: Format, rows: Sequence[Row], payload: Any, title: str | None = None, columns: Sequence[str] = ()
) -> None:
    """Print ``rows`` as a table or CSV, or ``payload`` as JSON; ``columns`` name those of CSV without rows."""
    if format is Format.json:
        print(json.dumps(payload, indent=2, ensure_ascii=False))
    elif format is Format.csv:
        writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]) if rows else columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    elif rows:
        stdout().print(make_table(rows, title))


def print_text(text: str) -> None:
    """Print lines as they are, however long: a terminal wraps them, and a file keeps them whole."""
    stdout().print(Text(printable(text)), soft_wrap=True)


def make_table(rows: Sequence[Row], title: str | None = None) -> Table:
    """Lay out rows as a table, numbers to the right."""
    table = Table(
        title=None if title is None else Text(printable(title)),
        title_justify="left",
        title_style="bold",
        header_style="bold",
    )
    for name in rows[0] if rows else {}:
        value = next((row[name] for row in rows if row[name] is not None), None)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        table.add_column(Text(printable(name)), justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    return table


def _cell(value: Any) -> Text:
    """Return a value as text that is printed as it is: ``[x]`` and ``:x:`` in a name mean nothing to rich."""
    if value is None:
        return Text("")
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, float):
        return Text(f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}")
    return Text(f"{value:,}" if isinstance(value, int) else printable(str(value)))
