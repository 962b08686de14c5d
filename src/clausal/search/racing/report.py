"""A race in words: what was tried, what won, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clausal.search.racing.judging import compare
from clausal.search.racing.plan import Plan
from clausal.search.racing.trial import Raced


def explain(made: Sequence[Raced], winner: Raced, plan: Plan, work: int, held_out: bool) -> str:
    """Return a paragraph on a race."""
    first, winner = _alike(made, winner, plan)
    facts = "facts held out of train" if held_out else "valid facts"
    longest = max(one.length for one in made)
    longer = f" ({sum(one.length > 1 for one in made)} of {longest * plan.epochs})" if longest > 1 else ""
    opening = (
        f"The race made {len(made)} trial{'s' * (len(made) != 1)} of {plan.epochs} epochs{longer} at dim {plan.dim} "
        "with "
        f"{work / max(1, plan.budget):.0%} of its budget, and judged them by the MRR of {facts}."
    )
    tried = _tried(made)
    also = f" Tried: {tried}." if tried else ""
    if not winner.trial.changes or winner.ranks is None or first.ranks is None:
        return f"{opening} Nothing was better than the settings of the rule, {first.value:.4f}.{also}"
    gain = compare(winner.ranks, first.ranks)
    return (
        f"{opening} The winner is {describe(winner.trial.changes)}: {winner.value:.4f}, which is {gain} more than the "
        f"settings of the rule.{also}"
    )


def _alike(made: Sequence[Raced], winner: Raced, plan: Plan) -> tuple[Raced, Raced]:
    """Return the first trial and the winner, both as long as they were made, if that is the same."""
    first, whole = made[0], next(one for one in made if one.trial.number == winner.trial.number)
    return (first, whole) if first.length == whole.length else (first.until(plan.epochs), winner)


def _tried(made: Sequence[Raced]) -> str:
    """Return every value that was tried, by setting; those of another kind of training are one thing."""
    values: dict[str, list[str]] = {}
    for one in made[1:]:
        for name, value in telling(one.trial.changes).items():
            shown = f"{value:g}" if isinstance(value, float) else str(value)
            if shown not in values.setdefault(name, []):
                values[name].append(shown)
    return "; ".join(f"{name.partition('.')[2]} {', '.join(shown)}" for name, shown in values.items())


def describe(changes: Mapping[str, Any]) -> str:
    """Return changes in one line."""
    return ", ".join(f"{name.partition('.')[2]} {value}" for name, value in telling(changes).items())


def telling(changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what says most of changes: another kind of training stands for all that goes with it."""
    kind = "facts.training"
    return {kind: changes[kind]} if kind in changes else changes
