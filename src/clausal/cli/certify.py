"""``clausal certify``: how badly each clause can be violated, over a region of vectors and over the real entities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.choices import RegionName, SemanticsName
from clausal.cli.decisions import decide
from clausal.cli.inputs import DeviceOption, read_clauses
from clausal.cli.output import Format, FormatOption, NamesOption, print_results, print_text, shown_names
from clausal.cli.progress import Bars
from clausal.cli.unknown import UnknownOption, fitting
from clausal.errors import InputError, RunError

if TYPE_CHECKING:
    from clausal.graph.display import DisplayNames
    from clausal.run import Certification, ClauseCertificate


def certify(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of a finished training.")],
    clauses: Annotated[
        str | None, typer.Option(metavar="FILE", help="Clauses to certify, in place of those of the run.")
    ] = None,
    unknown: UnknownOption = None,
    region: Annotated[
        RegionName,
        typer.Option(
            help="Vectors to certify for: the model's domain, the hull of its entities as a box or as discs, "
            "or of those in a variable's places; auto is the domain if it is bounded, else discs or the hull."
        ),
    ] = "auto",
    no_entities: Annotated[bool, typer.Option("--no-entities", help="Leave out the check over real entities.")] = False,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Violations up to this count as none; a hundredth of the margin by default."),
    ] = None,
    require: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Exit code 1 unless all clauses hold for all ('all'), at least on this graph ('graph') or for what "
            "the run accepts ('decisions'), or such a share of them holds on this graph (0.9).",
        ),
    ] = None,
    semantics: Annotated[
        SemanticsName | None, typer.Option(help="How connectives act; as in training by default.")
    ] = None,
    thresholds: Annotated[
        str | None,
        typer.Option(metavar="BODY,HEAD", help="The scores from which body and head hold, for threshold semantics."),
    ] = None,
    decisions: Annotated[
        bool,
        typer.Option(
            "--decisions",
            help="Instead: count the facts that the run accepts against each clause, as it is and with --consistent.",
        ),
    ] = False,
    probability: Annotated[
        float | None,
        typer.Option(
            metavar="P", help="With --decisions, accept from this probability on; calibrated thresholds by default."
        ),
    ] = None,
    device: DeviceOption = "auto",
    names: NamesOption = "short",
    format: FormatOption = Format.table,
) -> None:
    """Certify how badly each clause of a run can ever be violated, or which decisions break one."""
    from clausal.run import load
    from clausal.run.deciding import NO_CALIBRATION
    from clausal.run.verdicts import check_requirement, unmet

    if require is not None:
        check_requirement(require)
    limits = _thresholds(thresholds)
    _check_decisions(decisions, probability, require, no_entities, tolerance, semantics, limits, region)
    loaded = load(run, device=device)
    given = None if clauses is None else fitting(clauses, read_clauses(clauses), loaded.graph, unknown)
    if decisions:
        decide(run, loaded, given, probability, require, names, format)
        return
    if require == "decisions" and loaded.calibration is None:
        raise InputError(f"--require decisions: {NO_CALIBRATION}")
    with Bars(doing="certifying") as bars:
        result = loaded.certify(
            given,
            region=region,
            entities=not no_entities,
            tolerance=tolerance,
            semantics=semantics,
            thresholds=limits,
            observer=bars,
        )
    if format is Format.table:
        entities = any(one.entities for one in result.clauses)
        decided = any(one.decisions for one in result.clauses)
        rows = [_table_row(place, one, entities, decided) for place, one in enumerate(result.clauses, 1)]
    else:
        rows = [_csv_row(one) for one in result.clauses]
    print_results(format, rows, result.to_dict(), title=_title(run, result))
    if format is Format.table:
        display = shown_names(loaded.graph, names, format)
        print_text(_clauses_text(result, display), whole=names == "full")
    failure = None if require is None else unmet(require, result.clauses, shown_names(loaded.graph, names, format))
    if failure:
        raise RunError(failure)


def _check_decisions(decisions: bool, probability: float | None, require: str | None, *about_scores: object) -> None:
    """Refuse options that do not go together: decisions are about what is accepted, and certificates about scores."""
    if not decisions:
        if probability is not None:
            raise InputError("--probability says what is accepted; add --decisions")
        return
    if require not in (None, "decisions"):
        raise InputError(f"--require {require} is about scores; with --decisions, --require decisions")
    if about_scores != (False, None, None, None, "auto"):
        raise InputError(
            "--no-entities, --tolerance, --semantics, --thresholds and --region are about scores; leave out --decisions"
        )


def _thresholds(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        body, head = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--thresholds {text}: expected two numbers, such as 0.5,0") from None
    return body, head


def _title(run: Path, result: Certification) -> str:
    about = f"region {result.region}, {result.semantics} semantics, tolerance {result.tolerance:g}"
    return f"{run}: largest violations, {about}"


def _table_row(place: int, one: ClauseCertificate, entities: bool, decided: bool) -> dict[str, Any]:
    """Return a row of numbers; clauses can be far wider than a terminal, so a table numbers them."""
    row: dict[str, Any] = {
        "#": place,
        "verdict": one.verdict,
        "attained": one.attained,
        "bound": one.bound,
        "gap": one.gap,
    }
    found = one.entities
    if entities:
        row |= {"rate %": found and 100 * found.rate, "mean": found and found.mean, "worst": found and found.worst}
    if decided:
        row |= {"accepted": one.decisions and one.decisions.accepted, "broken": one.decisions and one.decisions.broken}
    return row


def _csv_row(one: ClauseCertificate) -> dict[str, Any]:
    found = one.entities
    return {
        "clause": str(one.clause),
        "verdict": one.verdict,
        "attained": one.attained,
        "bound": one.bound,
        "gap": one.gap,
        "exact": one.exact,
        "method": one.method,
        "assignments": found and found.assignments,
        "rate": found and found.rate,
        "mean": found and found.mean,
        "worst": found and found.worst,
        "example": found and found.example and str(found.example),
        "unchecked": one.unchecked,
        "accepted": one.decisions and one.decisions.accepted,
        "broken": one.decisions and one.decisions.broken,
    }


def _clauses_text(result: Certification, names: DisplayNames) -> str:
    """Return the clauses by number, violated ones with their worst example, and how many have which verdict."""
    from clausal.logic.printer import print_clause

    lines = []
    for place, one in enumerate(result.clauses, 1):
        lines.append(f"{place:>3}. {print_clause(one.clause, names)}")
        if one.verdict == "violated" and one.entities and one.entities.example:
            lines.append(f"       worst: {one.entities.example.text(names)}")
        if one.decisions and one.decisions.examples:
            lines.append(f"       accepted against it: {one.decisions.examples[0].text(names)}")
        if one.unchecked:
            lines.append(f"       not checked over the entities: {one.unchecked}")
    lines.append(", ".join(f"{count:,} {verdict}" for verdict, count in result.verdicts.items()))
    return "\n".join([*lines, _decided(result)])


def _decided(result: Certification) -> str:
    """Say what the verdicts mean for what the run accepts."""
    decided = [one.decisions for one in result.clauses if one.decisions is not None]
    if not decided:
        return (
            "what the run would accept was not counted: --no-entities leaves it out, and without calibrated "
            "thresholds, which take 20 valid facts, a run accepts nothing"
        )
    accepted, broken = sum(one.accepted for one in decided), sum(one.broken for one in decided)
    return (
        f"at its calibrated thresholds the run accepts {accepted:,} bodies of these clauses, and {broken:,} of them "
        "without their head; --decisions says which, and what --consistent makes of them"
    )
