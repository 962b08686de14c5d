"""``clausal report``: a run as one page that a colleague can open."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clausal.cli.inputs import DeviceOption
from clausal.cli.output import NamesOption, say
from clausal.cli.progress import Bars
from clausal.errors import InputError


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of a finished training.")],
    out: Annotated[Path, typer.Option(help="File for the page, .html; it needs no network and no script.")] = Path(
        "report.html"
    ),
    certify: Annotated[
        bool, typer.Option("--certify/--no-certify", help="Say of each clause how badly it can be violated.")
    ] = True,
    seconds: Annotated[float, typer.Option(help="About how long certificates may take.")] = 60.0,
    names: NamesOption = "label",
    device: DeviceOption = "auto",
) -> None:
    """Write a run as one page: graph, training, results, clauses, answers with proofs."""
    from clausal.files import write_text
    from clausal.report import make_report
    from clausal.run import load

    if not 0 <= seconds < float("inf"):
        raise InputError(f"--seconds {seconds}: a number of at least 0 is expected")
    require_page(out)
    loaded = load(run, device=device)
    with Bars() as bars:
        page = make_report(loaded, certify=certify, seconds=seconds, names=names, observer=bars)
    write_text(out, page)
    say(f"{out} written, {len(page.encode()) / 1000:,.0f} kB; open it in a browser")


def require_page(out: Path) -> None:
    """Refuse what cannot be written, and a name that is not that of a page: a browser would show its source."""
    from clausal.files import check_file_target

    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out {out}: the name of a page ends in .html")
    if not out.parent.is_dir():
        raise InputError(f"--out {out}: no such folder: {out.parent}")
    check_file_target(out)
