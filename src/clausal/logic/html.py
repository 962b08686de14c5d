"""Clauses and proofs as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from clausal.drawing import Html, table, tag
from clausal.graph.display import DisplayNames
from clausal.logic.printer import print_formula
from clausal.logic.proofs.proof import Proof, print_proof
from clausal.logic.syntax import Clause


def clause_html(clause: Clause, names: DisplayNames | None = None) -> Html:
    """Write a clause, without its weight."""
    return tag("code", print_formula(clause.formula, names))


def clauses_html(clauses: Sequence[Clause], names: DisplayNames | None = None) -> Html:
    """Write clauses as a table, with their weights, and confidence and support where a miner counted them."""
    counted = any(clause.confidence is not None for clause in clauses)
    rows = [
        {"#": place, "clause": clause_html(clause, names), "weight": clause.weight}
        | ({"confidence": clause.confidence, "support": clause.support} if counted else {})
        for place, clause in enumerate(clauses, 1)
    ]
    return table(rows)


def proof_html(proof: Proof, names: DisplayNames | None = None) -> Html:
    """Write a proof as a tree of facts, each with the clause that it follows by."""
    return tag("pre", print_proof(proof, names), class_="proof")
