"""The counts on the page *How clausal is tested*, from what the last runs of the long suites left in results/tests.

usage: python tools/tests_page.py [--coverage FILE]

A suite leaves ``results/tests/NAME.json``: ``what`` says in a sentence what it counts, ``targets`` has a row of numbers
for each part, and ``notes`` whatever else a reader must know. ``--coverage`` takes the report of ``coverage json`` and
keeps what the page needs of it as such a file.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
RESULTS = REPOSITORY / "results/tests"
PAGE = REPOSITORY / "docs/explanation/how-clausal-is-tested.md"
BEGIN, END = "<!-- counts, by `make docs` -->\n", "<!-- end of counts -->\n"
COVERAGE = "coverage"


def main() -> None:
    """Keep a report of coverage where one is given, and write the page."""
    if sys.argv[1:2] == ["--coverage"]:
        keep_coverage(json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")))
    PAGE.write_text(with_counts(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def with_counts(page: str) -> str:
    """Return the page with the counts of all suites."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    suites = [
        section(path.stem, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(RESULTS.glob("*.json"))
    ]
    return f"{before}{BEGIN}\n{''.join(suites)}{END}{after}"


def section(name: str, counts: dict[str, Any]) -> str:
    """Return the section of one suite: what was counted, over how long, and a table of its parts."""
    parts = counts.get("targets", {})
    columns = list(dict.fromkeys(column for part in parts.values() for column in part))
    rows = [(part, *(_number(values.get(column)) for column in columns)) for part, values in parts.items()]
    totals = [(f"**{_number(counts[column])}**" if column in counts else "") for column in columns]
    table = [
        _row(("part", *columns)),
        _row(("---", *("---:" for _ in columns))),
        *map(_row, rows),
        *([_row(("**all**", *totals))] if any(totals) else []),
    ]
    notes = "".join(f"- {note}.\n" for note in counts.get("notes", []))
    return f"### {name.capitalize()}\n\n{_sentence(counts)}\n\n{''.join(table)}\n" + (f"{notes}\n" if notes else "")


def _sentence(counts: dict[str, Any]) -> str:
    what = str(counts.get("what", "")).rstrip(".")
    facts = [f"last run {counts['last']}"] if "last" in counts else []
    if "minutes" in counts:
        facts.append(f"{_number(counts['minutes'])} minutes")
    if "minutes_since_failure" in counts:
        facts.append(f"{_number(counts['minutes_since_failure'])} minutes since the last failure was found")
    return f"{what[:1].upper()}{what[1:]} ({'; '.join(facts)})." if facts else f"{what[:1].upper()}{what[1:]}."


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str("" if value is None else value)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |\n"


def keep_coverage(report: dict[str, Any]) -> None:
    """Write how many lines and branches of each room the tests reach; copies that tests made elsewhere do not count."""
    rooms: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for name, file in report["files"].items():
        if not name.startswith("src/"):
            continue
        for room in (_room(name), ""):
            for key in ("covered_lines", "num_statements", "covered_branches", "num_branches"):
                rooms[room][key] += file["summary"][key]
    whole = _shares(rooms.pop(""))
    RESULTS.mkdir(parents=True, exist_ok=True)
    record = {
        "what": "lines and branches that `make coverage` reached, by room, in percent",
        "last": datetime.now(UTC).date().isoformat(),
        **whole,
        "targets": {room: _shares(rooms[room]) for room in sorted(rooms)},
    }
    (RESULTS / f"{COVERAGE}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _room(name: str) -> str:
    """Return the room of the house that a file is in, such as ``clausal.run``."""
    inside = Path(name).with_suffix("").parts[1:]
    return ".".join(inside[:2]) if inside[0] == "clausal" else inside[0]


def _shares(counts: dict[str, int]) -> dict[str, Any]:
    def share(part: int, whole: int) -> float:
        return round(100 * part / whole, 1) if whole else 100.0

    return {
        "lines": counts["num_statements"],
        "% of lines": share(counts["covered_lines"], counts["num_statements"]),
        "branches": counts["num_branches"],
        "% of branches": share(counts["covered_branches"], counts["num_branches"]),
    }


if __name__ == "__main__":
    main()
