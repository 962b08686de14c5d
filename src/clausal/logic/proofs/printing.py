"""Proofs and near supports as text, an indented tree, and as JSON, a list of steps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from clausal.graph.query import Fact
from clausal.logic.proofs.near import NearSupport
from clausal.logic.proofs.proof import Proof, place_of
from clausal.logic.syntax import Clause


def print_proof(proof: Proof) -> str:
    """Write a proof as an indented tree of facts, each with its clause and where that stands, or with ``given``.

    A derived fact that is needed again is written with ``shown above`` the next time.
    """
    lines = []
    seen: set[Fact] = set()
    waiting = [(proof, "", "")]  # with what stands before the fact, and before its premises
    while waiting:
        step, before, below = waiting.pop()
        if step.clause is None:
            why = "given"
        elif step.fact in seen:
            why = "shown above"
        else:
            why = _by(step.clause)
            waiting.extend(
                (premise, f"{below}{branch} ", f"{below}{stem} ")
                for premise, (branch, stem) in reversed(list(zip(step.premises, _branches(step.premises), strict=True)))
            )
        seen.add(step.fact)
        lines.append(f"{before}{step.fact}  {why}")
    return "\n".join(lines)


def print_near(near: NearSupport, notes: Sequence[str] = ()) -> str:
    """Write a near support: the clause, then the facts of its body that hold and those that are missing.

    ``notes`` say something about each missing fact, such as its score.
    """
    parts = [f"{fact}  holds" for fact in near.holds]
    parts += [f"{missing}  missing{note}" for missing, note in zip_longest(near.missing, notes, fillvalue="")]
    branches = [f"{branch} {part}" for part, (branch, _) in zip(parts, _branches(parts), strict=True)]
    return "\n".join([_by(near.clause), *branches])


def proof_to_json(proof: Proof) -> dict[str, Any]:
    """Return a proof as a JSON object: its steps, each fact once, whose premises are positions in that list.

    A list and not nested objects: readers of JSON limit the depth, and a proof can be thousands of steps deep.
    """
    steps = list(proof.steps())
    places = {step.fact: number for number, step in enumerate(steps)}
    return {
        "size": proof.size,
        "depth": proof.depth,
        "steps": [
            {
                **step.fact._asdict(),
                "clause": None if step.clause is None else str(step.clause),
                "place": None if step.clause is None else place_of(step.clause),
                "premises": [places[premise.fact] for premise in step.premises],
            }
            for step in steps
        ],
    }


def near_to_json(near: NearSupport) -> dict[str, Any]:
    """Return a near support as a JSON object; a name that may be any is null."""
    return {
        "clause": str(near.clause),
        "place": place_of(near.clause),
        "holds": [fact._asdict() for fact in near.holds],
        "missing": [missing._asdict() for missing in near.missing],
    }


def _by(clause: Clause) -> str:
    place = place_of(clause)
    return f"by {clause}" + ("" if place is None else f"  [{place}]")


def _branches(parts: Sequence[object]) -> list[tuple[str, str]]:
    """Return for each part what leads to it, and what stands below that."""
    return [("├─", "│ ")] * (len(parts) - 1) + [("└─", "  ")] if parts else []
