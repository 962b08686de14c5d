"""``clausal reproduce synthetic`` and ``contours``: AUC-PR by type of clause next to the paper's, and its figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from clausal.cli import Bars, Format, FormatOption, print_results, say
from clausal_paper.commands.tables import OutOption, QuickOption

_OUT = Path("reproduced")


def synthetic(quick: QuickOption = False, out: OutOption = _OUT, format: FormatOption = Format.table) -> None:
    """Train on synthetic knowledge bases by type of clause, and compare AUC-PR with the paper."""
    from clausal_paper.synthetic.cells import reproduce, time_ratio

    path = out / ("synthetic-quick.json" if quick else "synthetic.json")
    with Bars() as bars:
        table = reproduce(path, quick=quick, observer=bars)
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


def contours(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write into; files of the same name go.")] = _OUT,
    quick: Annotated[bool, typer.Option("--quick", help="A coarser version, to see that it works.")] = False,
    format: FormatOption = Format.table,
) -> None:
    """Draw the paper's contour figure: the largest violation by component of b - r, on sphere and cube."""
    from clausal_paper.contours import contours as compute
    from clausal_paper.contours import draw

    paths = draw(compute(41 if quick else 101), out)
    rows = [{"figure": str(path)} for path in paths]
    print_results(format, rows, {"figures": [str(path) for path in paths]})
