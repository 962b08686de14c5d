"""Arguments and options that several commands have, declared once."""

from __future__ import annotations

from typing import Annotated

import typer

GRAPH = typer.Argument(
    metavar="GRAPH",
    help="A folder with train, valid and test; one file of facts; or fb122, wn18, fb15k-237, wn18rr.",
)
GraphArgument = Annotated[str, GRAPH]
ClausesOption = Annotated[
    str,
    typer.Option(
        help="File of clauses, or of rules in any known format; or a data set's name for those that come with it "
        "(fb122-simple)."
    ),
]
DeviceOption = Annotated[str, typer.Option(help="cpu, cuda, or auto for a GPU where there is one.")]
ColumnsOption = Annotated[str, typer.Option(help="Order of subject, relation and object in a line.")]
ValidOption = Annotated[
    float | None, typer.Option(metavar="SHARE", help="Share of valid facts when GRAPH is one file; 0.1 by default.")
]
TestOption = Annotated[
    float | None, typer.Option(metavar="SHARE", help="Share of test facts when GRAPH is one file; 0.1 by default.")
]
