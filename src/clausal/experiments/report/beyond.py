"""The section for models that the paper does not have, from records in ``results/beyond/``."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, stdev

from clausal.experiments.report.markdown import MISSING, table
from clausal.experiments.report.records import made_on, read_records
from clausal.experiments.tables.paper import PARTS
from clausal.experiments.tables.run import Record


def beyond_section(folder: Path) -> list[str]:
    """Return the lines of the section: filtered MRR and Hits@10, mean and spread; nothing where there is nothing."""
    records = read_records(folder)
    if not records:
        return []
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record["table"], record["row"]), []).append(record)
    head = ["data", "model", *(f"MRR {part}" for part in ("Test-I", "Test-II", "all")), "Hits@10 all", "seeds"]
    body = []
    for (name, row), found in groups.items():
        mrr = [_figure(found, part, "mrr", 1, 3) for part in PARTS]
        body.append([name, row, *mrr, _figure(found, "test", "hits@10", 100, 1), str(len(found))])
    lines = ["## Beyond the paper", "", *table(head, body), f"Trained on {made_on(records)}.", ""]
    notes = folder / "notes.md"
    return [*lines, notes.read_text(encoding="utf-8").strip(), ""] if notes.exists() else lines


def _figure(records: list[Record], part: str, metric: str, scale: float, decimals: int) -> str:
    parts = [record["metrics"]["full"]["realistic"].get(part) for record in records]
    values = [scale * found[metric] for found in parts if found]
    if not values:
        return MISSING
    spread = f" ± {stdev(values):.{decimals}f}" if len(values) > 1 else ""
    return f"{fmean(values):.{decimals}f}{spread}"
