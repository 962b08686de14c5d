"""``clausal closure``: every fact that follows from a graph by clauses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli.closing import (
    EngineChoice,
    EngineOption,
    MasterOption,
    MemoryOption,
    Split,
    SplitOption,
    close_with_progress,
    facts_of,
)
from clausal.cli.inputs import read_clauses, read_graph
from clausal.cli.options import ClausesOption, ColumnsOption, GraphArgument
from clausal.cli.output import Format, FormatOption, print_results, say

if TYPE_CHECKING:
    from clausal.logic.closure import Closure


def closure(
    graph: GraphArgument,
    clauses: ClausesOption,
    out: Annotated[
        Path | None, typer.Option(help="File for the facts: .tsv, .txt or .parquet, also with .gz behind it.")
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Write only facts that the split does not have.")] = False,
    split: SplitOption = Split.train,
    rounds: Annotated[int | None, typer.Option(help="Stop after so many rounds; 1 applies each clause once.")] = None,
    limit: Annotated[int | None, typer.Option(help="Fail beyond so many facts.")] = None,
    engine: EngineOption = EngineChoice.duckdb,
    memory: MemoryOption = None,
    master: MasterOption = None,
    columns: ColumnsOption = "sro",
    format: FormatOption = Format.table,
) -> None:
    """Derive every fact that follows from a graph by Horn clauses."""
    from clausal.graph.writers import check_target, write_facts

    if out is not None:
        check_target(out)
    rules = read_clauses(clauses)
    loaded = read_graph(graph, columns=columns, whole=True)
    facts = facts_of(loaded, split)
    result = close_with_progress(
        loaded, rules, facts, engine=engine, rounds=rounds, limit=limit, memory=memory, master=master
    )
    if not result.complete:
        say(f"stopped after round {rounds}: more facts may follow")
    if out is not None:
        written = result.derived if new else result.facts
        write_facts(out, written, loaded.entities, loaded.relations)
        say(f"{len(written):,} facts written to {out}")
    print_results(
        format, _rows(result), _payload(result, split.value), title=f"closure of {loaded.name}, {split.value}"
    )


def _rows(closure: Closure) -> list[dict[str, Any]]:
    total = len(closure.facts) - sum(round.new for round in closure.rounds)
    rows: list[dict[str, Any]] = [{"round": "given", "new": total, "facts": total, "seconds": 0.0}]
    for number, new, seconds in closure.rounds:
        total += new
        rows.append({"round": str(number), "new": new, "facts": total, "seconds": round(seconds, 3)})
    return rows


def _payload(closure: Closure, split: str) -> dict[str, Any]:
    return {
        "split": split,
        "given": len(closure.facts) - len(closure.derived),
        "facts": len(closure.facts),
        "complete": closure.complete,
        "rounds": [{"round": number, "new": new, "seconds": seconds} for number, new, seconds in closure.rounds],
        "left_out": [{"clause": str(clause), "reason": reason} for clause, reason in closure.left_out],
    }
