"""``clausal reproduce``: the paper's figures and tables, made again by this library, and tables beyond it."""

from __future__ import annotations

import typer

from clausal.cli import Command, Group
from clausal_paper.commands.figures import contours, synthetic
from clausal_paper.commands.grid import grid
from clausal_paper.commands.tables import beyond, certify, fb122, wn18, wn18_limited

reproduce = typer.Typer(
    name="reproduce",
    cls=Group,
    help="Make the paper's figures and tables again, and those beyond it.",
    no_args_is_help=True,
)
for command in (synthetic, fb122, wn18, contours, grid, beyond, certify):
    reproduce.command(cls=Command)(command)
reproduce.command("wn18-limited", cls=Command)(wn18_limited)
