"""The log of a run: one JSON object for each epoch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clausal.run.files import explained_os_errors, read_text, write_text


def append_record(path: Path, record: Mapping[str, Any]) -> None:
    """Add one line to the log."""
    with explained_os_errors(path), path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(record) + "\n")


def read_records(path: Path) -> list[dict[str, Any]]:
    """Return the log's records; a line cut off by a kill is left out."""
    lines = read_text(path).splitlines() if path.exists() else []
    return [record for record in map(_read_record, lines) if record is not None]


def rewind(path: Path, epoch: int, workshop: Path) -> None:
    """Drop the records after an epoch, whose passes will be made again."""
    kept = [record for record in read_records(path) if record["epoch"] <= epoch]
    write_text(path, "".join(json.dumps(record) + "\n" for record in kept), workshop)


def _read_record(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    numbers = isinstance(record, dict) and all(isinstance(record.get(key), int | float) for key in ("epoch", "seconds"))
    return record if numbers else None
