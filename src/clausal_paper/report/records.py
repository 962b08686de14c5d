"""Reading the records of ``results/``, what they say about how they were made, and Markdown to say it in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from clausal.errors import InputError
from clausal.files import read_json
from clausal_paper.tables.run import Record

# Section, key, and the paper's symbol.
_CHOSEN = (
    ("model", "dim", "k"),
    ("model", "domain", ""),
    ("facts", "margin", "γ"),
    ("facts", "regulariser_weight", "λ"),
    ("facts", "batch_size", "batch"),
    ("facts", "relation_weight", "relation weight"),
    ("clauses", "adversary", ""),
    ("clauses", "weight", "α"),
    ("clauses", "sets", "B"),
    ("clauses", "steps", "τ_a"),
)
_OF_GRADIENT = ("sets", "steps")
_OF_CORRUPTION = ("domain", "margin")
_OF_ALL_ENTITIES = ("regulariser_weight", "batch_size", "relation_weight")


def read_records(folder: Path) -> list[Record]:
    """Return the records of a folder in the order of their names; none where there is no folder."""
    records = []
    for path in sorted(folder.glob("*.json")):
        record = read_json(path)
        missing = [name for name in ("row", "seed", "settings", "metrics") if name not in record]
        if missing:
            raise InputError(f"{path}: not a record of a training: it has no {' and no '.join(missing)}")
        records.append(record)
    return records


def chosen_settings(record: Record) -> str:
    """Name the settings that rows of the paper, or of training against all entities, differ in, by their symbols."""
    settings: dict[str, Any] = record["settings"]
    if "kale" in settings:
        kale = settings["kale"]
        weight = f", rule weight {kale['rule_weight']:g}" if kale["rule_weight"] else ""
        return f"k = {kale['dim']}, γ = {kale['margin']:g}{weight}, on {kale['on']}, {kale['passes']:,} passes"
    words = []
    adversary = settings["clauses"]["adversary"]
    against_all = settings["facts"].get("training", "corruption") != "corruption"
    for section, key, symbol in _CHOSEN:
        if section == "clauses" and adversary == "none" and key != "adversary":
            continue
        if key in _OF_GRADIENT and adversary != "gradient":
            continue
        if key in (_OF_CORRUPTION if against_all else _OF_ALL_ENTITIES) or not settings[section].get(key):
            continue
        value = settings[section][key]
        text = f"{value:g}" if isinstance(value, int | float) else f"adversary {value}" if key == "adversary" else value
        words.append(f"{symbol} = {text}" if symbol else text)
    return ", ".join(words)


def made_on(records: Sequence[Record]) -> str:
    """Say on what hardware, with which versions and when records were made."""
    machines = sorted({record["hardware"] for record in records})
    torch = sorted({record["versions"]["torch"] for record in records})
    dates = sorted({record["date"] for record in records})
    span = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return f"{' and '.join(machines)}; torch {' and '.join(torch)}; {span}"


MISSING = "–"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table, and an empty one after it."""
    return [_line(head), _line(["---"] * len(head)), *map(_line, rows), ""]


def notes(path: Path) -> list[str]:
    """Return a file of remarks, and an empty line after it; nothing where there is none."""
    return [path.read_text(encoding="utf-8").strip(), ""] if path.exists() else []


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
