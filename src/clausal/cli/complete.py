"""``clausal complete``: the most probable facts that a graph lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.choices import BASE_IRI
from clausal.cli.closure import say_left_out
from clausal.cli.inputs import BaseOption, DeviceOption, RdfStarOption, read_clauses
from clausal.cli.output import Format, FormatOption, NamesOption, print_results, say, shown_names
from clausal.cli.progress import Bars
from clausal.cli.ranking import ConsistentOption, RankingOption
from clausal.cli.unknown import UnknownOption, fitting
from clausal.errors import count

if TYPE_CHECKING:
    from clausal.graph.display import DisplayNames
    from clausal.run.completing import NewFact

_PRINTED = 20
_KEPT = 1_000_000


def complete(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of a finished training.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the facts: .csv, .tsv, .jsonl, .parquet, .nt or .ttl."),
    ] = None,
    min_probability: Annotated[
        float, typer.Option(metavar="SHARE", help="The least probability of a fact.", min=0, max=1)
    ] = 0.9,
    relation: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Facts of this relation alone; can be repeated.")
    ] = None,
    per_entity: Annotated[int | None, typer.Option(min=1, help="At most so many facts with the same subject.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most so many facts; 20, or 1,000,000 with --out, by default.")
    ] = None,
    ranking: RankingOption = None,
    consistent: ConsistentOption = False,
    clauses: Annotated[
        str | None, typer.Option(metavar="FILE", help="Entail, prove and obey by these clauses instead of the run's.")
    ] = None,
    unknown: UnknownOption = None,
    proofs: Annotated[bool, typer.Option(help="Prove what the clauses entail.")] = True,
    base_iri: BaseOption = BASE_IRI,
    rdf_star: RdfStarOption = False,
    device: DeviceOption = "auto",
    names: NamesOption = "short",
    format: FormatOption = Format.table,
) -> None:
    """Find the most probable facts that the graph does not have, over all pairs of entities."""
    from clausal.graph.rdf_names import check_base
    from clausal.run import load
    from clausal.run.answer_files import check_answer_file, write_answers
    from clausal.run.completing import NewFact
    from clausal.run.ranking import find_ranking

    chosen = find_ranking(ranking, None)
    if out is not None:
        check_answer_file(out, star=rdf_star)
        check_base(base_iri)
    loaded = load(run, device=device)
    display = shown_names(loaded.graph, names, format)
    others = None if clauses is None else fitting(clauses, read_clauses(clauses), loaded.graph, unknown)
    if others or loaded.clauses:
        with Bars(doing="closing train"):
            closure = loaded.closure_under(others)
        say_left_out(closure, display)
    with Bars(doing="completing") as bars:
        found = loaded.complete(
            min_probability=min_probability,
            relations=relation or None,
            per_entity=per_entity,
            limit=limit or (_PRINTED if out is None else _KEPT),
            ranking=chosen,
            clauses=others,
            consistent=consistent,
            proofs=proofs,
            observer=bars,
        )
    if out is not None:
        write_answers(out, found, kind=NewFact, base=base_iri, star=rdf_star)
        say(f"{count(len(found), 'new fact')} written to {out}{_statuses(found)}")
        return
    _print(found, format, display, whole=names == "full")
    if not found:
        say(f"no new facts of probability {min_probability:g} or more; try a lower --min-probability")


def _statuses(found: Sequence[NewFact]) -> str:
    counts = Counter(one.verdict for one in found)
    return ": " + ", ".join(f"{number:,} {verdict}" for verdict, number in counts.most_common()) if found else ""


def _print(found: Sequence[NewFact], format: Format, names: DisplayNames, *, whole: bool) -> None:
    from clausal.run.completing import NewFact
    from clausal.run.prediction import status

    payload = [one._asdict() for one in found]
    rows: list[dict[str, Any]] = [
        {name: "" if value is None else value for name, value in one.items()} for one in payload
    ]
    if format is Format.table:
        rows = [
            {
                "rank": one.rank,
                "subject": names.entity(one.subject),
                "relation": names.relation(one.relation),
                "object": names.entity(one.object),
                "score": one.score,
                "probability": one.probability,
                "precision": "" if one.precision is None else one.precision,
                "status": status(one.verdict, one.confidence),
            }
            for one in found
        ]
    fields = ("subject", "relation", "object")
    print_results(format, rows, payload, title="new facts", columns=NewFact._fields, names=fields, whole=whole)
