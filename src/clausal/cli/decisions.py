"""``clausal certify --decisions``: what a run accepts against its clauses, as it is and with consistent answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clausal.choices import NameStyle
from clausal.cli.output import Format, print_results, print_text, shown_names
from clausal.cli.progress import Bars
from clausal.errors import RunError

if TYPE_CHECKING:
    from clausal.graph.display import DisplayNames
    from clausal.logic import Clause
    from clausal.run import Run
    from clausal.run.deciding import ClauseDecisions, Decisions


def decide(
    path: Path,
    run: Run,
    clauses: Sequence[Clause] | None,
    probability: float | None,
    require: str | None,
    names: NameStyle,
    format: Format,
) -> None:
    """Count decisions that break clauses, and print them; a requirement that is not met is an error."""
    from clausal.run.deciding import unmet_decisions

    with Bars(doing="deciding") as bars:
        found = run.decisions(clauses, probability=probability, observer=bars)
    at = "its calibrated thresholds" if probability is None else f"a probability of {probability:g}"
    display = shown_names(run.graph, names, format)
    if format is Format.table:
        rows = [{"#": place} | _figures(one) for place, one in enumerate(found.clauses, 1)]
    else:
        rows = [{"clause": str(one.clause)} | _figures(one) | {"reason": one.reason} for one in found.clauses]
    print_results(format, rows, found.to_dict(), title=f"{path}: what the run accepts at {at}")
    if format is Format.table:
        print_text(_text(found, display), whole=names == "full")
    failure = None if require is None else unmet_decisions(found, display)
    if failure:
        raise RunError(failure)


def _figures(one: ClauseDecisions) -> dict[str, Any]:
    before, after = one.before, one.after
    return {
        "accepted": before and before.accepted,
        "broken": before and before.broken,
        "broken %": before and 100 * before.share,
        "accepted, consistent": after and after.accepted,
        "broken, consistent": after and after.broken,
    }


def _text(found: Decisions, names: DisplayNames) -> str:
    """Return the clauses by number with the worst of what is accepted against them."""
    from clausal.logic.printer import print_clause

    lines = []
    for place, one in enumerate(found.clauses, 1):
        lines.append(f"{place:>3}. {print_clause(one.clause, names)}")
        if one.reason:
            lines.append(f"       not counted: {one.reason}")
        lines += [f"       {example.text(names)}" for example in (one.before.examples if one.before else ())]
    broken = sum(one.before.broken for one in found.clauses if one.before)
    later = sum(one.after.broken for one in found.clauses if one.after)
    lines.append(f"{broken:,} accepted bodies without their head, {later:,} with --consistent")
    if later:
        lines.append("what is left follows from train, which contradicts these clauses by itself")
    return "\n".join(lines)
