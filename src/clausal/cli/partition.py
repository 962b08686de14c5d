"""``clausal partition``: the test facts that follow from train by clauses, apart from those that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clausal.cli.closure import EngineChoice, EngineOption, MasterOption, MemoryOption, close_with_progress
from clausal.cli.inputs import ClausesOption, ColumnsOption, GraphArgument, read_clauses, read_graph
from clausal.cli.output import Format, FormatOption, print_results, say
from clausal.errors import InputError
from clausal.files import check_new_folder


def partition(
    graph: GraphArgument,
    clauses: ClausesOption,
    out: Annotated[Path, typer.Option(metavar="DIR", help="New folder for the graph with its two parts.")],
    engine: EngineOption = EngineChoice.duckdb,
    memory: MemoryOption = None,
    master: MasterOption = None,
    columns: ColumnsOption = "sro",
    format: FormatOption = Format.table,
) -> None:
    """Split test into test-I, which does not follow from train by the clauses, and test-II, which does."""
    from clausal.graph import write_graph

    check_new_folder(out)
    rules = read_clauses(clauses)
    loaded = read_graph(graph, columns=columns, whole=True)
    if not len(loaded.test):
        raise InputError(f"{graph}: no test facts to partition; expected a folder with train and test")
    from clausal.logic import partition as part

    closure = close_with_progress(loaded, rules, loaded.train, engine=engine, memory=memory, master=master)
    parted = part(loaded, closure)
    write_graph(out, parted)
    say(f"written to {out}")
    sizes = {name: len(facts) for name, facts in parted.parts.items()}
    for name, size in sizes.items():
        if not size:
            say(f"note: {name} has no facts, so there is no file for it")
    rows = [{"part": name, "facts": size, "share": size / len(loaded.test)} for name, size in sizes.items()]
    payload = {"test": len(loaded.test), "closure": len(closure.facts), "parts": sizes}
    print_results(format, rows, payload, title=f"test facts of {loaded.name} by the closure of train")
