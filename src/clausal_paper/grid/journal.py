"""The journal of a search: one JSON line for each finished training, so that a killed search goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from clausal.errors import InputError
from clausal.files import explained_os_errors

Entry = dict[str, Any]


class Journal:
    """A file of entries, appended to; a last line that a kill cut off is dropped."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Entry]:
        """Return the entries so far; none where there is no file yet."""
        if not self.path.exists():
            return []
        lines = self.path.read_text(encoding="utf-8").split("\n")
        entries = []
        for number, line in enumerate(lines[:-1], start=1):  # after the last newline there is nothing, or half a line
            try:
                entries.append(json.loads(line))
            except ValueError:
                raise InputError(
                    f"{self.path}:{number}: not JSON; remove the line, or search with another journal"
                ) from None
        return entries

    def append(self, entry: Entry) -> None:
        """Add one line and have it on disk before anything else happens."""
        with explained_os_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists():
                whole = self.path.read_bytes().rpartition(b"\n")
                if whole[2]:  # half a line
                    self.path.write_bytes(whole[0] + whole[1])
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def best(entries: Iterable[Entry], row: str) -> Entry | None:
    """Return a row's entry with the highest MRR on valid, the mean over seeds where a point has several."""
    by_point: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry["row"] == row and "error" not in entry:
            by_point.setdefault(json.dumps(entry["point"], sort_keys=True), []).append(entry)
    if not by_point:
        return None
    return max(by_point.values(), key=lambda found: sum(e["valid_mrr"] for e in found) / len(found))[0]
