"""Counts of the long suites, summed up over their runs in ``results/tests``: cases, minutes and failures by part."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "results" / "tests"


@dataclass
class Turn:
    """What one turn of a part tried and found, and how long it took."""

    cases: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)


class Counts:
    """The counts of a suite; each turn is written at once, so that a run can be stopped at any time."""

    def __init__(self, name: str, what: str, folder: Path = FOLDER) -> None:
        self.path = folder / f"{name}.json"
        self.values: dict[str, Any] = {
            "what": what,
            "since": datetime.now(UTC).date().isoformat(),
            "cases": 0,
            "minutes": 0.0,
            "failures": 0,
            "minutes_since_failure": 0.0,
            "targets": {},
        }
        if self.path.exists():
            self.values |= json.loads(self.path.read_text(encoding="utf-8")) | {"what": what}

    def add(self, part: str, turn: Turn) -> None:
        """Add a turn of a part."""
        minutes, values = turn.seconds / 60, self.values
        row = values["targets"].setdefault(part, {"cases": 0, "minutes": 0.0, "failures": 0})
        for counts in (row, values):
            counts["cases"] += turn.cases
            counts["minutes"] = round(counts["minutes"] + minutes, 2)
            counts["failures"] += len(turn.failures)
        values["minutes_since_failure"] = 0.0 if turn.failures else round(values["minutes_since_failure"] + minutes, 2)
        values["last"] = datetime.now(UTC).date().isoformat()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
