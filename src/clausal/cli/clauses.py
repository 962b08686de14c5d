"""``clausal clauses``: what a file of rules says, what of it holds in a graph, and the same rules in another format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clausal.cli.closure import EngineChoice, EngineOption, MasterOption, MemoryOption, SharedOption
from clausal.cli.inputs import (
    SplitSeedOption,
    TestOption,
    ValidOption,
    locate_clauses,
    read_clauses,
    read_graph,
    reads_graph,
)
from clausal.cli.output import Format, FormatOption, NamesOption, say
from clausal.cli.progress import Bars
from clausal.cli.unknown import LANGUAGE, say_entities_as_variables
from clausal.errors import InputError, count

if TYPE_CHECKING:
    from clausal.graph.vocabulary import Names
    from clausal.logic import Clause, Measures


@reads_graph
def clauses(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Rules in any known format, or a data set's name.")],
    graph: Annotated[
        str | None, typer.Option(help="Graph in whose train facts the clauses are counted: as for clausal train.")
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="clausal, kale, prolog, anyburl, amie, ruge, aer, itere, rnnlogic, rdfrules or owl; "
            "by default what the file looks like.",
        ),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help="Convert to clausal, kale, prolog, anyburl or owl.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="New file for the converted clauses; .ttl, .nt and .owl hold axioms of OWL.")
    ] = None,
    weigh: Annotated[
        bool, typer.Option("--weigh", help="Write each clause with its confidence in the graph as its weight.")
    ] = False,
    min_confidence: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Write only clauses of at least this confidence, in the graph or else in the file."
        ),
    ] = None,
    min_support: Annotated[
        int | None, typer.Option(min=0, help="Write only clauses of at least this support, likewise.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Show all clauses, not the first 20.")] = False,
    valid: ValidOption = None,
    test: TestOption = None,
    split_seed: SplitSeedOption = None,
    engine: EngineOption = EngineChoice.duckdb,
    memory: MemoryOption = None,
    master: MasterOption = None,
    shared: SharedOption = None,
    names: NamesOption = "short",
    format: FormatOption = Format.table,
) -> None:
    """Show what a file of rules says and what of it holds in a graph, or convert it."""
    from clausal.cli.clause_report import print_report, review
    from clausal.graph.display import DisplayNames
    from clausal.logic.formats import detect_format, format_of_target
    from clausal.logic.lines import check_new_file

    choosing = weigh or min_confidence is not None or min_support is not None
    if weigh and graph is None:
        raise InputError("--weigh counts the clauses in a graph; name one with --graph")
    if out is not None:
        to = format_of_target(out, to)
        check_new_file(out)
    name = from_ or detect_format(locate_clauses(file))
    given = read_clauses(file, name, None if graph is None else Path(graph))
    measured: Sequence[Measures | None] = [None] * len(given)
    loaded = None
    if graph is not None:
        from clausal.logic import measure_clauses
        from clausal.logic.resolve import resolve_names

        loaded = read_graph(graph, valid=valid, test=test, split_seed=split_seed)
        given = resolve_names(given, loaded)
        if name in LANGUAGE:
            say_entities_as_variables(given, loaded)
        with Bars(doing="counting") as bars:
            options = {"engine": engine.value, "memory": memory, "master": master, "shared": shared}
            measured = measure_clauses(given, loaded, observer=bars, **options)  # type: ignore[arg-type]
    if to is not None or out is not None or choosing:
        chosen = _chosen(file, given, None if graph is None else measured, min_confidence, min_support)
        _convert(_with_measures(*chosen, weigh), to or "clausal", out)
        if out is None:
            return
    display = None
    if format is Format.table:
        display = (DisplayNames(*_vocabulary(given)) if loaded is None else loaded.display).styled(names)
    print_report(format, review(file, name, given, loaded, measured, display), all=all)


def _vocabulary(clauses: Sequence[Clause]) -> tuple[Names, Names]:
    """Return the entities and relations that clauses name, where no graph has them."""
    from clausal.graph.vocabulary import Names
    from clausal.logic.syntax import Constant

    atoms = [atom for clause in clauses for atom in clause.atoms]
    constants = {term.name: None for atom in atoms for term in atom.terms if isinstance(term, Constant)}
    return Names(list(constants), "entity"), Names(list({atom.relation: None for atom in atoms}), "relation")


def _convert(clauses: Sequence[Clause], format: str, out: Path | None) -> None:
    from clausal.logic.formats import print_rules, write_rules

    def tell(sentence: str) -> None:
        say(f"note: {sentence}")

    if format == "kale" and any(clause.weight != 1 or clause.hard for clause in clauses):
        say("note: KALE's format has no place for weights and marks; they were left out")
    if out is not None:
        write_rules(out, clauses, format, tell=tell)
        say(f"wrote {out} as {format}, from {count(len(clauses), 'clause')}")
        return
    for line in list(
        print_rules(clauses, format, tell=tell)
    ):  # all or nothing: a clause may have no form in this format
        print(line)


def _chosen(
    source: str,
    given: Sequence[Clause],
    measured: Sequence[Measures | None] | None,
    min_confidence: float | None,
    min_support: int | None,
) -> tuple[list[Clause], list[Measures | None]]:
    """Return the clauses that are asked for with their measures: by those in the graph, or else the file's figures."""
    kept = list(zip(given, measured or [None] * len(given), strict=True))
    for name, least in (("confidence", min_confidence), ("support", min_support)):
        if least is None:
            continue
        figures = [getattr(clause if measured is None else found, name, None) for clause, found in kept]
        if measured is None and kept and all(figure is None for figure in figures):
            raise InputError(f"{source}: gives no {name} of its clauses; count them in a graph with --graph")
        kept = [pair for pair, figure in zip(kept, figures, strict=True) if figure is None or figure >= least]
        where = "in the graph" if measured is not None else "in the file"
        unknown = sum(figure is None for figure in figures)
        also = f", {unknown:,} of them without one" if unknown else ""
        say(f"{len(kept):,} of {len(figures):,} clauses have a {name} of at least {least:g} {where}{also}")
    return [clause for clause, _ in kept], [found for _, found in kept]


def _with_measures(clauses: Sequence[Clause], measured: Sequence[Measures | None], weigh: bool) -> list[Clause]:
    """Give the clauses that nobody counted the confidence and support that they have in the graph."""
    from clausal.logic import weigh_clauses

    return [
        replace(clause, confidence=measures.confidence, support=measures.support)
        if measures is not None and clause.confidence is None and clause.support is None
        else clause
        for clause, measures in zip(weigh_clauses(clauses, measured) if weigh else clauses, measured, strict=True)
    ]
