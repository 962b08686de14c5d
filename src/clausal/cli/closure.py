"""``clausal closure``: every fact that follows from a graph by clauses; and what commands with a closure share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.choices import BASE_IRI
from clausal.cli.inputs import BaseOption, ClausesOption, GraphArgument, read_clauses, read_graph, reads_graph
from clausal.cli.output import Format, FormatOption, NamesOption, print_results, say, shown_names
from clausal.cli.progress import Bars
from clausal.cli.unknown import UnknownOption, widened_and_fitting
from clausal.errors import count

if TYPE_CHECKING:
    from clausal.graph import Facts, Graph
    from clausal.graph.display import DisplayNames
    from clausal.logic import Clause
    from clausal.logic.closure import Closure


_FEW = 3
_SHOWN = 10

MemoryOption = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Memory limit, such as 2GB; DuckDB goes on on disk beyond it."),
]
MasterOption = Annotated[
    str | None, typer.Option(metavar="URL", help="Master of the Spark engine; local[*] by default.")
]
SharedOption = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Folder that this machine and all workers of a Spark cluster see."),
]


class EngineChoice(StrEnum):
    """What joins facts."""

    duckdb = "duckdb"
    spark = "spark"


EngineOption = Annotated[EngineChoice, typer.Option(help="What runs it: DuckDB here, or Spark (clausal[spark]).")]


class Split(StrEnum):
    """Which facts are closed."""

    train = "train"
    valid = "valid"
    test = "test"
    all = "all"


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
    master: str | None = None,
    shared: str | None = None,
    names: DisplayNames,
) -> Closure:
    """Close facts, with a line on stderr for each round and for each clause that derives nothing."""
    from clausal.logic import close

    with Bars(doing="closing the facts") as bars:
        closure = close(
            graph,
            clauses,
            facts=facts,
            engine=engine.value,
            rounds=rounds,
            limit=limit,
            memory=memory,
            master=master,
            shared=shared,
            observer=bars,
        )
    say_left_out(closure, names)
    return closure


def say_left_out(closure: Closure, names: DisplayNames) -> None:
    """Name the clauses that derive nothing, each reason once, on stderr."""
    from clausal.logic.lines import place
    from clausal.logic.printer import print_clause
    from clausal.logic.rules import CONSTRAINT

    by_reason: dict[str, list[Clause]] = {}
    for clause, reason in closure.left_out:
        by_reason.setdefault(reason, []).append(clause)
    for reason, clauses in by_reason.items():
        say(f"note: no facts are derived from {count(len(clauses), 'clause')}: {reason}")
        if reason == CONSTRAINT and len(clauses) > _FEW:  # an ontology has many, and means them as they are
            continue
        for clause in clauses[:_SHOWN]:
            where = place(clause.source, clause.line, None)
            say(f"  {where}{': ' if where else ''}{print_clause(clause, names)}")
        if len(clauses) > _SHOWN:
            say(f"  and {len(clauses) - _SHOWN:,} more; clausal closure --format json lists them all")


@reads_graph
def closure(
    graph: GraphArgument,
    clauses: ClausesOption,
    out: Annotated[
        Path | None,
        typer.Option(help="File for the facts: .tsv, .txt, .parquet, .nt or .ttl, also with .gz behind it."),
    ] = None,
    base_iri: BaseOption = BASE_IRI,
    new: Annotated[bool, typer.Option("--new", help="Write only facts that the split does not have.")] = False,
    split: SplitOption = Split.train,
    unknown: UnknownOption = None,
    rounds: Annotated[int | None, typer.Option(help="Stop after so many rounds; 1 applies each clause once.")] = None,
    limit: Annotated[int | None, typer.Option(help="Fail beyond so many facts.")] = None,
    engine: EngineOption = EngineChoice.duckdb,
    memory: MemoryOption = None,
    master: MasterOption = None,
    shared: SharedOption = None,
    names: NamesOption = "short",
    format: FormatOption = Format.table,
) -> None:
    """Derive every fact that follows from a graph by Horn clauses."""
    from clausal.graph.rdf_names import check_base
    from clausal.graph.writers import check_target, write_facts

    if out is not None:
        check_target(out)
        check_base(base_iri)
    rules = read_clauses(clauses)
    loaded, rules = widened_and_fitting(clauses, rules, read_graph(graph, whole=True), unknown)
    facts = facts_of(loaded, split)
    result = close_with_progress(
        loaded,
        rules,
        facts,
        engine=engine,
        rounds=rounds,
        limit=limit,
        memory=memory,
        master=master,
        shared=shared,
        names=shown_names(loaded, names, format),
    )
    if not result.complete:
        say(f"stopped after round {rounds}: more facts may follow")
    if out is not None:
        written = result.derived if new else result.facts
        texts = None if new else loaded.literals
        names_of = (loaded.entities, loaded.relations)
        write_facts(out, written, *names_of, base=base_iri, prefixes=loaded.prefixes, literals=texts)
        say(f"{count(len(written), 'fact')} written to {out}")
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
