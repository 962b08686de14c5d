"""The end of ``clausal train`` on clauses: a table of how each was used, and when to use them in another way."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any

from clausal.cli.output import print_table, say

if TYPE_CHECKING:
    from clausal.run import Run

_SHOWN = 10
_LONGEST = 60


def show_clauses(run: Run) -> None:
    """Print what a race found out about the clauses, those with the largest effect first, and where all of it is."""
    found = run.metrics.get("clauses")
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    if not rows:
        return
    shown = sorted(rows, key=_effect, reverse=True)[:_SHOWN]
    used = sum(row.get("used") == "loss" for row in rows)
    title = f"clauses: {used:,} of {len(rows):,} are used in the loss; MRR is of their heads' valid facts in the race"
    print_table([row | {"clause": _short(str(row.get("clause")))} for row in shown], title)
    if len(rows) > len(shown):
        say(f"the other {len(rows) - len(shown):,} clauses are in {run.path}/metrics.json")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _effect(row: dict[str, Any]) -> tuple[bool, float]:
    before, after = row.get("mrr without"), row.get("mrr with")
    change = abs(after - before) if isinstance(before, float) and isinstance(after, float) else 0.0
    return row.get("used") == "loss", change


def advice(run: Run) -> str:
    """Return when clauses are for the loss, for entailment and for votes."""
    path = quote(str(run.path))
    if not run.clauses:
        return f"rules often add to a model, also mined ones, as votes: clausal fuse {path} --mine --out RUN2"
    return (
        "clauses that hold for certain: --entailed first ranks what follows from them before all else "
        f"(clausal evaluate {path} --entailed first)\n"
        "clauses that must never be broken: as a loss on a bounded domain, which clausal certify can prove\n"
        f"rules with exceptions, such as mined ones: as votes, clausal fuse {path} --mine --out RUN2"
    )
