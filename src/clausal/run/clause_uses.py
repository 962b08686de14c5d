"""How each clause of a finished run is used: kept hard, as a loss, as a vote, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clausal.adversary.hard import find_hard
from clausal.fusion.clause_rules import clauses_without_votes

if TYPE_CHECKING:
    from clausal.run.run import Run

HARD, LOSS, VOTE, NOT_AT_ALL = "hard", "loss", "vote", "not at all"


def clause_uses(run: Run) -> list[str]:
    """Return the uses of each clause in words; what it entails first is up to who asks, by ``--ranking entailed``."""
    graph, about = run.graph, run.settings.clauses
    trained = about.adversary != "none"
    wanted = about.hard if trained else "none"
    hard = find_hard(run.clauses, graph.entities, graph.relations, run.predictor, wanted).clauses
    kept = {id(clause) for clause in hard}
    voting = run.is_fused and run.fusion.basis != "no gain"
    silent = {id(one.clause) for one in clauses_without_votes(run.clauses, graph)} if voting else set()
    found = []
    for clause in run.clauses:
        in_loss = trained and bool(about.alpha and clause.weight) and id(clause) not in kept
        uses = {HARD: id(clause) in kept, LOSS: in_loss, VOTE: voting and id(clause) not in silent}
        found.append(", ".join(name for name, true in uses.items() if true) or NOT_AT_ALL)
    return found
