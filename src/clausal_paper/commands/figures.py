"""``clausal reproduce synthetic`` and ``contours``: AUC-PR by type of clause next to the paper's, and its figure."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from clausal.cli import Bars, Format, FormatOption, print_results, say
from clausal_paper.commands.tables import OutOption, QuickOption

_OUT = Path("reproduced")


class Protocol(StrEnum):
    """Whose settings of the adversary are taken."""

    scripts = "scripts"
    text = "text"


ProtocolOption = Annotated[
    Protocol,
    typer.Option(
        help="The adversary of the authors' scripts, 10 steps on 100 sets, or of the paper's text, 1 step: "
        "only cells with ascent, as others are the same."
    ),
]
OwnOption = Annotated[
    bool,
    typer.Option("--own", help="Also cells that the paper has not: real entities, grounded clauses, other ascents."),
]


def synthetic(
    protocol: ProtocolOption = Protocol.scripts,
    own: OwnOption = False,
    quick: QuickOption = False,
    out: OutOption = _OUT,
    format: FormatOption = Format.table,
) -> None:
    """Train on synthetic knowledge bases by type of clause, and compare AUC-PR with the paper."""
    from clausal_paper.synthetic.cells import costs, reproduce, time_ratio

    name = "synthetic" if protocol is Protocol.scripts else "synthetic-text"
    path = out / (f"{name}-quick.json" if quick else f"{name}.json")
    with Bars() as bars:
        table = reproduce(path, protocol=protocol, own=own, quick=quick, observer=bars)
    rows = [_row(record) for record in table["cells"]]
    by_domain = {domain: cost._asdict() for domain, cost in costs(table).items()}
    payload = {"rows": rows, "time_ratio": time_ratio(table), "costs": by_domain, "evidence": table["evidence"]}
    title = f"AUC-PR in percent, {len(table['seeds'])} knowledge bases"
    print_results(format, rows, payload | {"record": str(path)}, title=title)
    for domain, cost in by_domain.items():
        say(
            f"{domain}: closed form took {cost['whole']:.2f} of the CPU time of gradient ascent, "
            f"and {cost['clauses']:.2f} of what clauses add to a training without"
        )
    for kind, (both, body) in table["evidence"].items():
        say(f"{kind}: train has the body of {body:,} instances of the clauses, and of {both:,} of them the head too")
    say(f"all areas are in {path}")


def _row(record: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: record[name] for name in ("clauses", "scorer", "domain", "adversary", "paper")},
        "ours": record["mean"],
        "difference": None if record["paper"] is None else round(record["mean"] - record["paper"], 2),
        "trapezoid": record.get("trapezoid"),
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
