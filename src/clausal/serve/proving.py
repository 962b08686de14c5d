"""Proofs of facts, and what is missing to one."""

from __future__ import annotations

from typing import Any

import numpy as np

from clausal.graph.query import Fact, fact_ids
from clausal.logic.proofs import Proof, near_to_json, proof_to_json
from clausal.run.explanation import score_supports
from clausal.serve.rows import fact_rows, with_names
from clausal.serve.runs import ServedRun


def prove(served: ServedRun, fact: Fact, most: int) -> dict[str, Any]:
    """Return a fact with its status, and its proof or what nearly supports it."""
    (row,) = fact_rows(served, np.array([fact_ids(fact, served.run.graph)]))
    payload = {"fact": row, "status": row["status"], **reasons(served, fact, most)}
    steps = [] if payload["proof"] is None else payload["proof"]["steps"]
    missing = [one for near in payload["near"] for part in ("holds", "missing") for one in near[part]]
    return with_names(served, payload, [row], steps, missing)


def reasons(served: ServedRun, fact: Fact, most: int) -> dict[str, Any]:
    """Return the shortest proof of a fact from train, or else what nearly supports it.

    A fact of train is its own proof; one of valid or test follows from train or it does not.
    """
    consequences = served.statuses.all
    if consequences is None:  # no clauses: train has it or not
        given = bool(served.splits.train.has(np.array([fact_ids(fact, served.run.graph)]))[0])
        return {"proof": proof_json(served, Proof(fact)) if given else None, "near": []}
    proof = served.statuses.prove(fact)
    if proof is not None:
        return {"proof": proof_json(served, proof), "near": []}
    with consequences.lock:
        supports = consequences.prover.near(fact)
    scored = score_supports(served.table, served.run.graph, supports, most)
    near = [
        _without_place(served, near_to_json(one.support))
        | {"missing": [{**fact._asdict(), "score": score, "rank": rank} for fact, score, rank in one.missing]}
        for one in scored
    ]
    return {"proof": None, "near": near}


def proof_json(served: ServedRun, proof: Proof) -> dict[str, Any]:
    """Return a proof with the numbers of its clauses."""
    found = proof_to_json(proof)
    found["steps"] = [_without_place(served, step) for step in found["steps"]]
    return found


def _without_place(served: ServedRun, step: dict[str, Any]) -> dict[str, Any]:
    """Give a clause its number instead of its place in a file of the host."""
    number = None if step["clause"] is None else served.clause_numbers.get(step["clause"])
    shown = None if number is None else served.names.clause(served.clause(number))
    return {name: value for name, value in step.items() if name != "place"} | {"clause_id": number, "shown": shown}
