"""``clausal demo``: what clauses do, on an embedded graph of countries, in about a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path | None, typer.Option(help="Keep the run trained with clauses here.")] = None,
) -> None:
    """Train on an embedded graph of countries without and with clauses, side by side."""
