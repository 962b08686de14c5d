"""Near support for a fact that does not follow: bodies of clauses of which all atoms but few hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from clausal.graph import Graph
from clausal.graph.display import DisplayNames
from clausal.graph.query import Fact, Query, name_fact, print_fact
from clausal.logic.grounding import FactIndex, Groundings, ground
from clausal.logic.proofs.proof import branches, place_of, reason
from clausal.logic.rules import Rule
from clausal.logic.syntax import Clause

_MOST = 1_000  # grounded bodies that are looked at for each clause and choice of missing atoms


@dataclass(frozen=True)
class NearSupport:
    """A clause by which a fact would follow from ``holds``, facts of the closure, and ``missing`` ones.

    A missing fact with None for a name stands for any entity there.
    """

    clause: Clause
    holds: tuple[Fact, ...]
    missing: tuple[Query, ...]


def near_supports(
    graph: Graph, index: FactIndex, rules: Sequence[Rule], subject: int, object: int
) -> list[NearSupport]:
    """Return what nearly supports a fact: fewest missing facts first, then most that hold, then by clause."""
    found = [near for rule in rules for near in _near_supports_by(graph, index, rule, subject, object)]
    return sorted(found, key=lambda near: (len(near.missing), -len(near.holds)))


def print_near(near: NearSupport, notes: Sequence[str] = (), names: DisplayNames | None = None) -> str:
    """Write a near support: the clause, then the facts of its body that hold and those that are missing.

    ``notes`` say something about each missing fact, such as its score; ``names`` are display names.
    """
    parts = [f"{print_fact(fact, names)}  holds" for fact in near.holds]
    about = [*notes, *[""] * (len(near.missing) - len(notes))]
    parts += [f"{print_fact(one, names)}  missing{note}" for one, note in zip(near.missing, about, strict=True)]
    lines = [f"{branch} {part}" for part, (branch, _) in zip(parts, branches(parts), strict=True)]
    return "\n".join([reason(near.clause, names), *lines])


def near_to_json(near: NearSupport) -> dict[str, Any]:
    """Return a near support as a JSON object; a name that may be any is null."""
    return {
        "clause": str(near.clause),
        "place": place_of(near.clause),
        "holds": [fact._asdict() for fact in near.holds],
        "missing": [missing._asdict() for missing in near.missing],
    }


def _near_supports_by(graph: Graph, index: FactIndex, rule: Rule, subject: int, object: int) -> list[NearSupport]:
    binding = rule.match_head(subject, object)
    if binding is None:
        return []
    goal = Query(*name_fact(graph, (subject, rule.relations[-1], object)))
    positions = range(len(rule.shape.body))
    # A body of one atom lacks that atom; of a longer one at least one atom must hold to speak of support.
    for count in range(1, max(2, len(positions))):
        found: dict[NearSupport, None] = {}
        choices = []
        for missing in combinations(positions, count):
            held = [position for position in positions if position not in missing]
            choices.append((missing, held, ground(index, rule, held, binding, _MOST)))
        # What holds in few ways says more about this fact than what holds in many.
        for missing, held, groundings in sorted(choices, key=lambda choice: choice[2].count):
            for number in range(groundings.count):
                holds = tuple(name_fact(graph, index.facts[groundings.rows[position][number]]) for position in held)
                lacks = tuple(_missing_fact(graph, rule, position, groundings, number) for position in missing)
                if goal not in lacks:  # that it would follow from itself says nothing
                    found[NearSupport(rule.clause, holds, lacks)] = None
        if found:
            return list(found)
    return []


def _missing_fact(graph: Graph, rule: Rule, position: int, groundings: Groundings, number: int) -> Query:
    """Write an atom of the body as a grounding has it, with None for what it leaves open."""
    entities = [groundings.entities.get(slot) for slot in rule.shape.body[position].slots]
    subject, object = (None if column is None else graph.entities[column[number]] for column in entities)
    return Query(subject, graph.relations[rule.relations[position]], object)
