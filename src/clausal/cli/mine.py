"""``clausal mine``: rules that hold in a graph, for when there are none yet."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli.closure import MasterOption, MemoryOption, SharedOption
from clausal.cli.inputs import (
    GraphArgument,
    SplitSeedOption,
    TestOption,
    ValidOption,
    read_graph,
    reads_graph,
)
from clausal.cli.output import Format, FormatOption, NamesOption, print_results, say, shown_names
from clausal.cli.progress import Bars
from clausal.errors import InputError, count

if TYPE_CHECKING:
    from clausal.graph.display import DisplayNames
    from clausal.logic.mining import Measure, MinedRule

_SHOWN = 20
_COLUMNS = {
    "rule": "rule",
    "support": "support",
    "head_coverage": "head coverage",
    "confidence": "confidence",
    "pca_confidence": "PCA confidence",
}


class Engine(StrEnum):
    """What counts the rules."""

    memory = "memory"
    duckdb = "duckdb"
    spark = "spark"


class Weight(StrEnum):
    """Which confidence becomes the weight of a clause."""

    standard = "standard"
    pca = "pca"
    bound = "bound"
    none = "none"


_NO_RULES = (
    "; lower a threshold: --min-confidence, --min-support or --min-head-coverage; or let weaker rules vote beside a "
    "trained model: clausal fuse RUN --mine"
)
_MEASURES: dict[Weight, Measure] = {Weight.pca: "pca_confidence", Weight.bound: "lower_bound"}


@reads_graph
def mine(
    graph: GraphArgument,
    out: Annotated[Path | None, typer.Option(help="New file for the rules, as clauses with weights.")] = None,
    min_support: Annotated[int, typer.Option(help="Facts that a rule predicts, at least.")] = 10,
    min_head_coverage: Annotated[float, typer.Option(help="Share of its relation's facts, at least.")] = 0.01,
    min_confidence: Annotated[float, typer.Option(help="Share of predictions that are facts, at least.")] = 0.5,
    min_pca_confidence: Annotated[
        float, typer.Option(help="The same among predictions about entities with some known answer.")
    ] = 0.0,
    max_rules: Annotated[int, typer.Option(help="Keep so many of the best rules.")] = 1000,
    body: Annotated[int, typer.Option(help="Body atoms, at most: 1, 2 or 3.")] = 2,
    constants: Annotated[bool, typer.Option("--constants", help="Rules about single entities too.")] = False,
    keep_redundant: Annotated[
        bool, typer.Option("--keep-redundant", help="Keep rules whose facts better rules predict, and chance ones.")
    ] = False,
    seconds: Annotated[float | None, typer.Option(help="End the search after so long, with what was found.")] = None,
    weight: Annotated[
        Weight, typer.Option(help="Which confidence orders the rules and is written as their weight.")
    ] = Weight.standard,
    engine: Annotated[
        Engine,
        typer.Option(help="What counts: walks in memory; or joins, of rules with at most two atoms: DuckDB, Spark."),
    ] = Engine.memory,
    memory: MemoryOption = None,
    master: MasterOption = None,
    shared: SharedOption = None,
    valid: ValidOption = None,
    test: TestOption = None,
    split_seed: SplitSeedOption = None,
    names: NamesOption = "short",
    format: FormatOption = Format.table,
) -> None:
    """Find rules in the train facts of a graph."""
    from clausal.graph.addresses import public
    from clausal.logic.formats import format_of_target, write_rules
    from clausal.logic.lines import check_new_file
    from clausal.logic.mining import mine as find
    from clausal.logic.mining import write_mined

    target = None
    if out is not None:
        target = format_of_target(out)
        check_new_file(out)
    if max_rules < 1:
        raise InputError(f"--max-rules is a number of at least 1, not {max_rules}")
    facts = read_graph(graph, valid=valid, test=test, split_seed=split_seed)
    split = {"valid": valid, "test": test, "split-seed": split_seed}
    started = time.perf_counter()
    with Bars(doing="mining") as bars:
        rules = find(
            facts,
            min_support=min_support,
            min_head_coverage=min_head_coverage,
            min_confidence=min_confidence,
            min_pca_confidence=min_pca_confidence,
            max_body=body,
            constants=constants,
            prune=not keep_redundant,
            seconds=seconds,
            engine=engine.value,
            memory=memory,
            master=master,
            shared=shared,
            observer=bars,
        )
    say(f"{_count(rules)} in {time.perf_counter() - started:.1f} s{'' if rules else _NO_RULES}")
    measure = _MEASURES.get(weight, "confidence")
    best = sorted(rules, key=lambda rule: (-getattr(rule, measure), -rule.support))[:max_rules]
    if len(rules) > len(best):
        say(f"the {len(best):,} best are kept; --max-rules {len(rules)} keeps all")
    if out is not None and best:
        note = f"{_count(best)} mined from the {count(len(facts.train), 'train fact')} of {facts.name}"
        weighed = None if weight is Weight.none else measure
        if target == "owl":
            write_rules(out, [rule.clause(weighed) for rule in best], tell=lambda sentence: say(f"note: {sentence}"))
        else:
            write_mined(out, best, weighed, [note])
        say(f"{_count(best)} written to {out}; {_next_steps(public(graph), out, split)}")
    display = shown_names(facts, names, format)
    if format is not Format.table:
        payload = [_record(rule, display) for rule in best]
        print_results(format, payload, payload)
        return
    rows = [
        {title: record[column] for column, title in _COLUMNS.items()}
        for record in (_record(rule, display) for rule in best[:_SHOWN])
    ]
    title = f"rules in {facts.name}, the most confident first"
    print_results(format, rows, None, title=title, whole=names == "full")
    if len(best) > _SHOWN:
        say(f"and {len(best) - _SHOWN:,} more: in {out}" if out else _all_rules(len(best) - _SHOWN))


def _all_rules(more: int) -> str:
    return f"and {more:,} more; --out FILE writes them all, --format csv prints them"


def _record(rule: MinedRule, names: DisplayNames) -> dict[str, Any]:
    from clausal.logic.printer import print_clause

    return {
        "rule": print_clause(rule.clause(None), names),
        "support": rule.support,
        "head_coverage": rule.head_coverage,
        "confidence": rule.confidence,
        "pca_confidence": rule.pca_confidence,
        "head_facts": rule.head_facts,
        "body_pairs": rule.body_pairs,
        "pca_pairs": rule.pca_pairs,
        "lower_bound": rule.lower_bound,
        "functional": rule.functional,
        "share": rule.share,
    }


def _count(rules: list[MinedRule]) -> str:
    return count(len(rules), "rule")


def _next_steps(graph: str, out: Path, split: dict[str, float | int | None]) -> str:
    """Return the commands that use the rules, the second on the same train facts."""
    options = "".join(f" --{name} {value:g}" for name, value in split.items() if value is not None)
    file = quote(str(out))
    return (
        "next: look at them, then\n"
        f"  clausal fuse RUN --clauses {file}  (rules vote beside a trained model)\n"
        f"  clausal train {quote(graph)} --clauses {file}{options} --preset best  (rules as a loss)\n"
        "Rules that hold often, not always, can cost as a loss: compare with a training without them, on valid."
    )
