"""What the commands around the closure share: their options, the progress line of a round, clauses left out."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from clausal.cli.output import say

if TYPE_CHECKING:
    from clausal.graph import Facts, Graph
    from clausal.logic import Clause
    from clausal.logic.closure import Closure, Round

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


EntailedOption = Annotated[
    Entailed | None, typer.Option(help="'first' puts what train entails by the run's clauses before all else.")
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

    total = len(facts)

    def tell(round: Round) -> None:
        nonlocal total
        total += round.new
        say(f"round {round.number}: {round.new:,} new facts, {total:,} in all, {round.seconds:.2f} s")

    closure = close(
        graph,
        clauses,
        facts=facts,
        engine=engine.value,
        rounds=rounds,
        limit=limit,
        memory=memory,
        master=master,
        progress=tell,
    )
    say_left_out(closure)
    return closure


def say_left_out(closure: Closure) -> None:
    """Name the clauses that derive nothing, with the reasons, on stderr."""
    from clausal.logic.place import place

    count = len(closure.left_out)
    if count:
        say(f"note: no facts are derived from {count:,} clause{'s' if count > 1 else ''}:")
    for clause, reason in closure.left_out[:_SHOWN]:
        where = place(clause.source, clause.line, None)
        say(f"  {where}{': ' if where else ''}{clause}: {reason}")
    if count > _SHOWN:
        say(f"  and {count - _SHOWN:,} more")
