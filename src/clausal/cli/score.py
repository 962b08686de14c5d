"""``clausal score``: scores and probabilities of the facts of a file."""

from __future__ import annotations

import csv
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clausal.choices import UnknownNames
from clausal.cli.closure import say_left_out
from clausal.cli.describing import DescribeOption, with_described
from clausal.cli.inputs import ColumnsOption, DeviceOption, Header, HeaderOption, read_clauses
from clausal.cli.output import Format, FormatOption, NamesOption, print_results, say, shown_names
from clausal.cli.progress import Bars
from clausal.cli.ranking import ConsistentOption, RankingClausesOption, RankingOption, check_used
from clausal.cli.together import asked_run, asks_together, speaks_for_all
from clausal.cli.unknown import fitting
from clausal.errors import InputError, count

if TYPE_CHECKING:
    from clausal.graph.display import DisplayNames
    from clausal.run.scoring import Scores

_MOST_PRINTED = 10_000


@asks_together
def score(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of a finished training.")],
    candidates: Annotated[
        Path, typer.Argument(metavar="CANDIDATES", help="File of facts: a table or RDF, as for train.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the scores to this .parquet, .csv or .tsv, however many there are."),
    ] = None,
    describe: DescribeOption = None,
    unknown: Annotated[
        UnknownNames, typer.Option(help="'skip' leaves out facts with a name that the run does not know.")
    ] = "refuse",
    ranking: RankingOption = None,
    consistent: ConsistentOption = False,
    clauses: RankingClausesOption = None,
    columns: ColumnsOption = "sro",
    header: HeaderOption = Header.auto,
    device: DeviceOption = "auto",
    names: NamesOption = "short",
    format: FormatOption = Format.table,
) -> None:
    """Score the facts of a file: score, probability, and whether the graph has the fact."""
    from clausal.run.ranking import find_ranking
    from clausal.run.score_files import check_scores_target, write_scores

    chosen = find_ranking(ranking, None)
    check_used(clauses, chosen, consistent)
    if out is not None:
        check_scores_target(out)
    refused = {"consistent": consistent, "describe": describe, "ranking fused": chosen == "fused"}
    loaded = asked_run(run, device, refused)
    if describe is not None:
        loaded = with_described(loaded, describe)
    display = shown_names(loaded.graph, names, format)
    others = None if clauses is None else fitting(clauses, read_clauses(clauses), loaded.graph, None)
    if chosen == "entailed":
        say_left_out(loaded.closure_under(others), display)
    counted = _Counted()
    with Bars(doing="scoring") as bars:
        batches = counted.of(
            loaded.score_file(
                candidates,
                columns=columns,
                header=header,
                ranking=chosen,
                clauses=others,
                consistent=consistent,
                unknown=unknown,
                observer=bars,
            )
        )
        if not speaks_for_all():
            deque(batches, maxlen=0)  # scored together
        elif out is not None:
            write_scores(out, batches)
        elif format is Format.csv:
            _print_csv(batches)
        else:
            _print(batches, format, candidates, display, whole=names == "full")
    if counted.skipped:
        say(f"note: {count(counted.skipped, 'fact')} with unknown names left out")
    if out is not None:
        say(f"{out}: {count(counted.scored, 'fact')}, {counted.known:,} of them known")


class _Counted:
    """Counts the facts that go by."""

    scored = known = skipped = 0

    def of(self, batches: Iterator[Scores]) -> Iterator[Scores]:
        for scores in batches:
            self.scored += len(scores)
            self.known += int(scores.known.sum())
            self.skipped += scores.skipped
            yield scores


def _print_csv(batches: Iterator[Scores]) -> None:
    """Print rows as they come: a pipe may take millions of them."""
    writer = None
    for scores in batches:
        columns = scores.columns
        if writer is None:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(columns)
        writer.writerows([[getattr(fact, name) for name in columns] for fact in scores])


def _print(batches: Iterator[Scores], format: Format, candidates: Path, names: DisplayNames, *, whole: bool) -> None:
    rows = []
    columns: tuple[str, ...] = ()
    for scores in batches:
        columns = scores.columns
        rows += [{name: getattr(fact, name) for name in columns} for fact in scores]
        if format is Format.table and len(rows) > _MOST_PRINTED:
            raise InputError(
                f"{candidates}: more than {_MOST_PRINTED:,} facts are too many for a table; "
                "write their scores to a file: --out FILE, or print them as --format csv"
            )
    shown = [{name: "" if value is None else value for name, value in row.items()} for row in rows]
    if format is Format.table:
        for row in shown:
            row |= {"subject": names.entity(row["subject"]), "object": names.entity(row["object"])}
            row["relation"] = names.relation(row["relation"])
    fields = ("subject", "relation", "object")
    print_results(format, shown, rows, title=str(candidates), columns=columns, names=fields, whole=whole)
