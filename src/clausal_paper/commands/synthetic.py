"""``clausal reproduce synthetic``: the two tables of AUC-PR by type of clause, next to the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from clausal.cli.output import Format, FormatOption, print_results, say
from clausal.cli.progress import counting_progress
from clausal_paper.commands.options import OutOption, QuickOption

if TYPE_CHECKING:
    from clausal_paper.synthetic.cells import Cell


def synthetic(
    quick: QuickOption = False, out: OutOption = Path("reproduced"), format: FormatOption = Format.table
) -> None:
    """Train on synthetic knowledge bases by type of clause, and compare AUC-PR with the paper."""
    from clausal_paper.synthetic.reproduction import reproduce, time_ratio

    path = out / ("synthetic-quick.json" if quick else "synthetic.json")
    with counting_progress() as progress:

        def watch(cell: Cell, place: int, total: int) -> None:
            say(f"{place + 1} of {total}: {cell.clause_type}, {cell.scorer}, {cell.domain}, adversary {cell.adversary}")
            progress("cells", place, total)

        table = reproduce(path, quick=quick, watch=watch)
    rows = [_row(record) for record in table["cells"]]
    ratio = time_ratio(table)
    payload = {"rows": rows, "time_ratio": ratio, "record": str(path)}
    print_results(format, rows, payload, title=f"AUC-PR in percent, {len(table['seeds'])} knowledge bases")
    say(f"closed form took {ratio:.2f} of the CPU time of gradient ascent; all areas are in {path}")


def _row(record: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: record[name] for name in ("clauses", "scorer", "domain", "adversary", "paper")},
        "ours": record["mean"],
        "difference": round(record["mean"] - record["paper"], 2),
        "spread": record["spread"],
        "CPU seconds": record["cpu_seconds"],
    }
