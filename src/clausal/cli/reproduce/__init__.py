"""``clausal reproduce``: the paper's figures and tables, made again by this library, and tables beyond it."""

from __future__ import annotations

import typer

from clausal.cli.group import Command, Group
from clausal.cli.reproduce.beyond import beyond
from clausal.cli.reproduce.contours import contours
from clausal.cli.reproduce.grid import grid
from clausal.cli.reproduce.synthetic import synthetic
from clausal.cli.reproduce.tables import fb122, wn18, wn18_limited

reproduce = typer.Typer(
    name="reproduce",
    cls=Group,
    help="Make the paper's figures and tables again, and those beyond it.",
    no_args_is_help=True,
)
for command in (synthetic, fb122, wn18, contours, grid, beyond):
    reproduce.command(cls=Command)(command)
reproduce.command("wn18-limited", cls=Command)(wn18_limited)
