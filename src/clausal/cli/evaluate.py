"""``clausal evaluate``: how well a run ranks facts, or tells true facts from false ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.choices import Filter, RankingName, Ties
from clausal.cli.closure import say_left_out
from clausal.cli.inputs import ColumnsOption, DeviceOption, Header, HeaderOption, read_clauses
from clausal.cli.output import Format, FormatOption, NamesOption, print_results, say, shown_names
from clausal.cli.progress import Bars
from clausal.cli.ranking import ConsistentOption, EntailedOption, RankingClausesOption, RankingOption, check_used
from clausal.cli.together import asked_run, asks_together
from clausal.cli.unknown import UnknownOption, fitting
from clausal.errors import InputError

if TYPE_CHECKING:
    from clausal.evaluation import Evaluation


@asks_together
def evaluate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of a finished training.")],
    split: Annotated[str, typer.Option(help="train, valid, test, a part such as test-I, or a file of facts.")] = "test",
    ties: Annotated[Ties, typer.Option(help="Rank among equal scores: mean, best or worst.")] = "realistic",
    filter: Annotated[
        Filter,
        typer.Option(help="'partial' ranks each part of test without the rest of test in the filter, as the paper."),
    ] = "full",
    relations: Annotated[bool, typer.Option("--relations", help="Metrics of each relation too.")] = False,
    ranking: RankingOption = None,
    entailed: EntailedOption = None,
    consistent: ConsistentOption = False,
    clauses: RankingClausesOption = None,
    unknown: UnknownOption = None,
    classify: Annotated[
        bool,
        typer.Option("--classify", help="Instead: tell the facts from random corruptions, with probabilities."),
    ] = False,
    labelled: Annotated[
        Path | None,
        typer.Option(help="Instead: the same for a file of facts with a label in a fourth column."),
    ] = None,
    columns: ColumnsOption = "sro",
    header: HeaderOption = Header.auto,
    device: DeviceOption = "auto",
    names: NamesOption = "short",
    format: FormatOption = Format.table,
) -> None:
    """Evaluate a run by filtered ranking, or by classification of true and false facts."""
    from clausal.cli.output import classification_rows, evaluation_rows, metric_row
    from clausal.graph import read_facts, read_labelled
    from clausal.run.ranking import find_ranking

    chosen_ranking = find_ranking(ranking, None if entailed is None else entailed.value)
    if (classify or labelled is not None) and (ranking is not None or entailed is not None or consistent):
        option = "--consistent" if consistent else "--entailed" if ranking is None else "--ranking"
        raise InputError(f"{option} is about ranking; leave out --classify and --labelled")
    check_used(clauses, chosen_ranking, consistent)
    with Bars(doing="reading the run") as bars:
        refused = {"consistent": consistent, "ranking fused": chosen_ranking == "fused"}
        loaded = asked_run(run, device, refused, bars)
    others = None if clauses is None else fitting(clauses, read_clauses(clauses), loaded.graph, unknown)
    graph = loaded.graph
    display = shown_names(graph, names, format)
    chosen: Any = split
    if split in graph.parts:
        chosen = graph.parts[split]
    elif split not in graph.splits and labelled is None:
        chosen = read_facts(split, graph.entities, graph.relations, columns, header)
    if classify or labelled is not None:
        found = (
            loaded.classify(chosen)
            if labelled is None
            else loaded.classify(*read_labelled(labelled, graph, columns, header))
        )
        if found.calibration is None:
            say("note: too few valid facts to calibrate scores by, so there are no probabilities and no thresholds")
        what = f"{split} and random corruptions" if labelled is None else str(labelled)
        rows = classification_rows(found, what, relations, display)
        payload = found.to_dict(per_relation=relations)
        print_results(
            format, rows, payload, title=f"{run}: classification", names=("facts classified",), whole=names == "full"
        )
        return
    if chosen_ranking == "entailed":
        with Bars(doing="closing train"):
            closure = loaded.closure_under(others)
        say_left_out(closure, display)

    def measured(ranking: RankingName, bars: Bars, consistent: bool = False) -> Evaluation:
        return loaded.evaluate(
            chosen,
            ties=ties,
            filter=filter,
            per_relation=relations,
            ranking=ranking,
            clauses=others,
            consistent=consistent,
            observer=bars,
        )

    with Bars(doing="ranking") as bars:
        evaluation = measured(chosen_ranking, bars, consistent)
        beside = measured("model", bars) if consistent or chosen_ranking in ("rules", "fused") else None
    payload = evaluation.to_dict() | ({} if split in graph.splits else {"split": split})
    name = "filtered ranking" if evaluation.ranking == "model" else f"filtered ranking, {evaluation.ranking}"
    rows = evaluation_rows(payload, raw=True, names=display)
    if beside is not None:
        rows.append(metric_row(f"{payload['split']}, the model alone", beside.filtered["both"]))
        payload["model"] = beside.to_dict()
    title = f"{run}: {name}, {ties} ties, {filter} filter"
    print_results(format, rows, payload, title=title, names=("facts ranked",), whole=names == "full")
