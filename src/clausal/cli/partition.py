"""``clausal partition``: the test facts that follow from train by clauses, apart from those that do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from clausal.cli.closure import (
    EngineChoice,
    EngineOption,
    MasterOption,
    MemoryOption,
    SharedOption,
    close_with_progress,
)
from clausal.cli.inputs import ClausesOption, GraphArgument, read_clauses, read_graph, reads_graph
from clausal.cli.output import Format, FormatOption, NamesOption, print_results, say, shown_names
from clausal.cli.unknown import UnknownOption, widened_and_fitting
from clausal.errors import InputError
from clausal.files import check_new_folder


@reads_graph
def partition(
    graph: GraphArgument,
    clauses: ClausesOption,
    out: Annotated[Path, typer.Option(metavar="DIR", help="New folder for the graph with its two parts.")],
    unknown: UnknownOption = None,
    engine: EngineOption = EngineChoice.duckdb,
    memory: MemoryOption = None,
    master: MasterOption = None,
    shared: SharedOption = None,
    names: NamesOption = "short",
    format: FormatOption = Format.table,
) -> None:
    """Split test into test-I, which does not follow from train by the clauses, and test-II, which does."""
    from clausal.graph import write_graph

    check_new_folder(out)
    rules = read_clauses(clauses)
    loaded = read_graph(graph, whole=True)
    if not len(loaded.test):
        raise InputError(f"{loaded.name}: no test facts to partition; expected a folder with train and test")
    from clausal.logic import partition as part

    wide, rules = widened_and_fitting(clauses, rules, loaded, unknown)
    display, train = shown_names(wide, names, format), loaded.train
    closure = close_with_progress(
        wide, rules, train, engine=engine, memory=memory, master=master, shared=shared, names=display
    )
    parted = replace(loaded, parts=part(wide, closure).parts)
    write_graph(out, parted)
    say(f"written to {out}")
    sizes = {name: len(facts) for name, facts in parted.parts.items()}
    for name, size in sizes.items():
        if not size:
            say(f"note: {name} has no facts, so there is no file for it")
    rows = [{"part": name, "facts": size, "share": size / len(loaded.test)} for name, size in sizes.items()]
    payload = {"test": len(loaded.test), "closure": len(closure.facts), "parts": sizes}
    print_results(format, rows, payload, title=f"test facts of {loaded.name} by the closure of train")
