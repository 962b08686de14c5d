"""The commands and their common options. Nothing here imports torch, so that ``--help`` answers at once.

Other packages add commands by an entry point of the group ``clausal.commands``, as ``clausal_paper`` does.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Annotated

import typer

import clausal
from clausal.cli.certify import certify
from clausal.cli.clauses import clauses
from clausal.cli.closure import closure
from clausal.cli.commands import Command, Group
from clausal.cli.compare import compare
from clausal.cli.complete import complete
from clausal.cli.demo import demo
from clausal.cli.evaluate import evaluate
from clausal.cli.fuse import fuse
from clausal.cli.index import index
from clausal.cli.mine import mine
from clausal.cli.nearest import nearest
from clausal.cli.output import say
from clausal.cli.partition import partition
from clausal.cli.predict import predict
from clausal.cli.prove import prove
from clausal.cli.report import report
from clausal.cli.score import score
from clausal.cli.search import search
from clausal.cli.serve import serve
from clausal.cli.split import split
from clausal.cli.train import train
from clausal.cli.update import update
from clausal.cli.vectors import vectors

app = typer.Typer(
    name="clausal",
    cls=Group,
    help="Neural link prediction that obeys your clauses.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"clausal {clausal.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Neural link prediction that obeys your clauses."""


asking = (evaluate, predict, complete, score, nearest, vectors, index, report, compare, serve)
for command in (demo, train, search, update, *asking, fuse, certify, clauses, closure, prove, split, partition, mine):
    app.command(cls=Command)(command)


@cache
def add_plugins() -> None:
    """Add, once, the commands of other packages: a function is a command, a ``typer.Typer`` a group of them."""
    for plugin in entry_points(group="clausal.commands"):
        try:
            loaded = plugin.load()
        except Exception as error:  # another package's code: whatever it raises, the other commands are there
            reason = " ".join(str(error).split())
            say(f"warning: the command '{plugin.name}' is left out: {plugin.value}: {type(error).__name__}: {reason}")
            continue
        if isinstance(loaded, typer.Typer):
            app.add_typer(loaded, name=plugin.name)
        else:
            app.command(plugin.name, cls=Command)(loaded)
