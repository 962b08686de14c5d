"""``clausal closure``: every fact that follows from a graph by clauses; and what commands with a closure share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.choices import RankingName
from clausal.cli.inputs import ClausesOption, ColumnsOption, GraphArgument, read_clauses, read_graph
from clausal.cli.output import Format, FormatOption, print_results, say
from clausal.cli.progress import Bars

if TYPE_CHECKING:
    from clausal.graph import Facts, Graph
    from clausal.logic import Clause
    from clausal.logic.closure import Closure


_SHOWN = 10

MemoryOption = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Memory limit, such as 2GB; DuckDB goes on on disk beyond it."),
]
MasterOption = Annotated[
    str | None, typer.Option(metavar="URL", help="Master of the Spark engine; local[*] by default.")
]


class EngineChoice(StrEnum):
    """What runs the closure."""

    duckdb = "duckdb"
    spark = "spark"


EngineOption = Annotated[EngineChoice, typer.Option(help="What runs it: DuckDB here, or Spark (clausal[spark]).")]


class Split(StrEnum):
    """Which facts are closed."""

    train = "train"
    valid = "valid"
    test = "test"
    all = "all"


class Entailed(StrEnum):
    """Where the facts go that train entails."""

    first = "first"


EntailedOption = Annotated[Entailed | None, typer.Option(help="'first' is the same as --ranking entailed.")]
RankingOption = Annotated[
    RankingName | None,
    typer.Option(
        help="By the model; 'entailed': what train entails by the run's clauses before all else; or, after "
        "'clausal fuse', by votes of rules alone or fused with the model.",
        show_default="model",
    ),
]

SplitOption = Annotated[Split, typer.Option(help="Which facts to close.")]


def facts_of(graph: Graph, split: Split) -> Facts:
    """Return the facts of a split, or of all."""
    return graph.known if split is Split.all else graph.splits[split.value]


def close_with_progress(
    graph: Graph,
    clauses: list[Clause],
    facts: Facts,
    *,
    engine: EngineChoice,
    rounds: int | None = None,
    limit: int | None = None,
    memory: str | None,
    master: str | None,
) -> Closure:
    """Close facts, with a line on stderr for each round and for each clause that derives nothing."""
    from clausal.logic import close

    closure = close(
        graph,
        clauses,
        facts=facts,
        engine=engine.value,
        rounds=rounds,
        limit=limit,
        memory=memory,
        master=master,
        observer=Bars(),
    )
    say_left_out(closure)
    return closure


def say_left_out(closure: Closure) -> None:
    """Name the clauses that derive nothing, with the reasons, on stderr."""
    from clausal.logic.lines import place

    count = len(closure.left_out)
    if count:
        say(f"note: no facts are derived from {count:,} clause{'s' if count > 1 else ''}:")
    for clause, reason in closure.left_out[:_SHOWN]:
        where = place(clause.source, clause.line, None)
        say(f"  {where}{': ' if where else ''}{clause}: {reason}")
    if count > _SHOWN:
        say(f"  and {count - _SHOWN:,} more")


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
