"""What several commands take: arguments and options, graphs and clause files by path or by a data set's name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer

from clausal.cli.output import say
from clausal.cli.progress import Bars
from clausal.errors import InputError, count

if TYPE_CHECKING:
    from clausal.graph import Graph
    from clausal.logic import Clause

_P = ParamSpec("_P")
_R = TypeVar("_R")

_LARGE_FILE = 1 << 20
"""A file of clauses of more bytes takes more than a moment to read."""

GRAPH = typer.Argument(
    metavar="GRAPH",
    help="A folder with train, valid and test, or of RDF files; one file of facts; a database, such as duckdb:FILE; or "
    "fb122, wn18, fb15k-237, wn18rr.",
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
RdfStarOption = Annotated[
    bool, typer.Option("--rdf-star", help="In RDF, triple terms of RDF 1.2 instead of reified statements.")
]
BaseOption = Annotated[
    str,
    typer.Option(metavar="IRI", help="In RDF, what stands before names that are no IRIs; they are percent-encoded."),
]
ColumnsOption = Annotated[
    str,
    typer.Option(
        help="Names or numbers of the columns of subject, relation and object, such as from,type,to; or their order in "
        "a file without names."
    ),
]


class Header(StrEnum):
    """Whether the first line of a text file may name its columns."""

    auto = "auto"
    no = "no"


HeaderOption = Annotated[
    Header, typer.Option(help="'no' says that every line of a text file is a fact: no header, no comments.")
]
ValidOption = Annotated[
    float | None, typer.Option(metavar="SHARE", help="Share of valid facts when GRAPH is one file; 0.1 by default.")
]
TestOption = Annotated[
    float | None, typer.Option(metavar="SHARE", help="Share of test facts when GRAPH is one file; 0.1 by default.")
]
SplitSeedOption = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        min=0,
        help="Seed that draws valid and test when GRAPH is one file; 0 by default, for every command.",
    ),
]


class LiteralsChoice(StrEnum):
    """Whether literals of RDF are entities."""

    skip = "skip"
    keep = "keep"


class BlankNodesChoice(StrEnum):
    """Whether blank nodes of RDF are entities, and how they are named."""

    skip = "skip"
    keep = "keep"
    skolemise = "skolemise"


_OPTIONS: dict[str, tuple[Any, Any]] = {
    "columns": (ColumnsOption, "sro"),
    "header": (HeaderOption, Header.auto),
    "query": (
        Annotated[
            str | None,
            typer.Option(metavar="SQL", help="Facts of a database: a query of subject, relation and object."),
        ],
        None,
    ),
    "literals": (
        Annotated[LiteralsChoice, typer.Option(help="Literals of RDF: kept aside, or as entities.")],
        LiteralsChoice.skip,
    ),
    "blank_nodes": (
        Annotated[
            BlankNodesChoice,
            typer.Option(help="Blank nodes of RDF: left out, named by their labels, or each with an IRI."),
        ],
        BlankNodesChoice.skip,
    ),
    "base": (
        Annotated[
            str | None,
            typer.Option(metavar="IRI", help="What relative IRIs are relative to in RDF that does not say it."),
        ],
        None,
    ),
}

_GIVEN: ContextVar[dict[str, Any]] = ContextVar("reading", default={})  # noqa: B039  never changed
"""The options of reading a graph, of the command that runs."""


def reads_graph(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """Give a command the options of reading a graph; they do not reach its function, ``read_graph`` finds them."""

    @wraps(command)
    def without_options(*arguments: Any, **options: Any) -> Any:
        token = _GIVEN.set({name: options.pop(name) for name in _OPTIONS if name in options})
        try:
            return command(*arguments, **options)
        finally:
            _GIVEN.reset(token)

    declare(without_options, command, _OPTIONS)
    return without_options


def declare(wrapped: Any, command: Callable[..., Any], options: Mapping[str, tuple[Any, Any]]) -> None:
    """Let what wraps a command have its parameters, and options beside them: names with a type and a default."""
    signature = inspect.signature(command, eval_str=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in options.items()
    ]
    parameters = [*signature.parameters.values(), *added]
    wrapped.__signature__ = signature.replace(parameters=parameters)
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


def read_graph(
    source: str,
    *,
    valid: float | None = None,
    test: float | None = None,
    split_seed: int | None = None,
    whole: bool = False,
) -> Graph:
    """Load a graph and say what was found; one file is split by these shares, or the usual ones, or kept ``whole``.

    The split of a file does not depend on the settings of a training: every command holds out the same facts.
    """
    from clausal.graph import load_graph
    from clausal.graph.addresses import public

    options = {"valid": valid, "test": test, "split-seed": split_seed}
    given = {name: value for name, value in options.items() if value is not None}
    shares: dict[str, Any] = {
        name: 0.0 if whole else given[name] for name in ("valid", "test") if whole or name in given
    }
    with Bars(doing=f"reading {public(source)}") as bars:
        graph = load_graph(source, seed=split_seed or 0, observer=bars, **_GIVEN.get(), **shares)
    say(graph.summary())
    for note in graph.notes:
        say(f"note: {note}")
    if given and graph.drawn is None:
        names = " and ".join(f"--{name}" for name in given)
        say(f"note: {names} did nothing: {graph.name} comes with its own splits")
    return graph


def read_clauses(source: str | None, format: str | None = None, folder: Path | None = None) -> list[Clause]:
    """Read a file of clauses or rules and say what was found, and as which format it was read.

    ``fb122`` and ``fb122-simple`` name the clauses that come with a data set. ``folder`` may hold the dictionary of
    relations for a format that writes ids and has none beside its file.
    """
    from clausal.logic import read_rules
    from clausal.logic.formats import detect_format
    from clausal.logic.formats.rnnlogic import read_dictionary

    if source is None:
        return []
    path = locate_clauses(source)
    format = format or detect_format(path)
    names = None
    if folder is not None and folder.is_dir() and path.parent.is_dir():
        names = read_dictionary(path.parent) or read_dictionary(folder)
    if path.is_file() and path.stat().st_size > _LARGE_FILE:
        say(f"reading {source}")
    clauses = read_rules(path, format, names=names, tell=lambda sentence: say(f"note: {sentence}"))
    say(f"{source}: {count(len(clauses), 'clause')}, read as {format}{_marks(clauses)}")
    return clauses


def locate_clauses(source: str) -> Path:
    """Return the path of a clause file, which may be given by the name of the data set that it comes with."""
    from clausal.graph import DATASETS, dataset_clauses

    name = source.removesuffix("-simple")
    if name in DATASETS and not Path(source).exists():
        with Bars() as bars:
            path = dataset_clauses(name, simple=name != source, observer=bars)
        if path is None:
            raise InputError(f"the data set {name} comes without clauses; give a file of clauses")
        return path
    return Path(source)


def _marks(clauses: list[Clause]) -> str:
    """Say how many clauses are marked hard and which weights there are, where some are not 1."""
    hard = sum(clause.hard for clause in clauses)
    return _weights(clauses) + (f", {hard:,} of them marked hard" if hard else "")


def _weights(clauses: list[Clause]) -> str:
    """Say which weights there are, where some are not 1: a confidence that was read is one."""
    least, most = min(clause.weight for clause in clauses), max(clause.weight for clause in clauses)
    if least == most:
        return "" if least == 1 else f", with weight {least:.3g}"
    return f", with weights from {least:.3g} to {most:.3g}"
