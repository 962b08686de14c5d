"""Where a clause matters: its body among the facts of train, and by how much the model breaks it there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.adversary.certificates import default_tolerance
from clausal.logic.grounding import FactIndex, Groundings, ground
from clausal.logic.rules import Rule, encode_rule
from clausal.logic.shape import Slot
from clausal.logic.syntax import Falsum, Variable, leaves
from clausal.serve.rows import fact_rows, with_names
from clausal.serve.runs import ServedRun

Floats = NDArray[np.float64]
_MOST = 20_000
"""Instances of a body that are looked at."""
_SHOWN = 10
_BINS = 6


def violations(served: ServedRun, number: int) -> dict[str, Any]:
    """Return how much the model breaks a clause where train has its body: in bins, and the worst instances.

    A body has the least score of its atoms, and the clause is broken by as much as that is above the head's score, or
    above 0 where the head is false.
    """
    clause, graph = served.clause(number), served.run.graph
    rule = encode_rule(clause, graph.entities, graph.relations)
    payload: dict[str, Any] = {"id": number, "checked": 0, "broken": 0, "complete": True}
    payload |= {"heads": None, "bins": [], "worst": []}
    if rule is None or not rule.shape.body or not rule.shape.is_safe:
        return with_names(served, payload)
    found = ground(FactIndex(graph.train, len(graph.entities), len(graph.relations)), rule, most=_MOST)
    if not found.count:
        return with_names(served, payload | {"complete": not found.cut})
    facts = _atoms(rule, found)  # [atoms, instances, 3]
    scores = served.run.score(facts.reshape(-1, 3)).scores.reshape(facts.shape[:2])
    constraint = isinstance(rule.shape.head, Falsum)
    body = scores if constraint else scores[:-1]
    head = np.zeros(found.count) if constraint else scores[-1]
    tolerance = default_tolerance(served.run.settings.facts.margin)
    broken = np.maximum(0.0, body.min(0) - head)
    order = [int(place) for place in np.argsort(-broken, kind="stable")[:_SHOWN] if broken[place] > tolerance]
    variables = _variables(rule)
    worst: list[dict[str, Any]] = [
        {
            "entities": {name: graph.entities[int(found.entities[slot][place])] for name, slot in variables.items()},
            "body": float(body.min(0)[place]),
            "head": None if constraint else float(head[place]),
            "violation": float(broken[place]),
            "facts": fact_rows(served, facts[:, place]),
        }
        for place in order
    ]
    heads = None if constraint else _heads(served, facts[-1])
    counts = {
        "heads": heads,
        "checked": found.count,
        "broken": int((broken > tolerance).sum()),
        "complete": not found.cut,
    }
    rows = [fact for one in worst for fact in one["facts"]]
    return with_names(served, payload | counts | {"bins": _bins(broken, tolerance), "worst": worst}, rows)


def _atoms(rule: Rule, found: Groundings) -> NDArray[np.int64]:
    """Return the facts that the atoms of a rule are, in every grounding. Shape [atoms, groundings, 3]."""
    atoms = []
    for atom, relation in zip(rule.shape.atoms, rule.relations, strict=True):
        subject, object = (np.broadcast_to(found.entities[slot], found.count) for slot in atom.slots)
        atoms.append(np.stack([subject, np.full(found.count, relation), object], 1))
    return np.stack(atoms).astype(np.int64)


def _heads(served: ServedRun, heads: NDArray[np.int64]) -> dict[str, int]:
    """Count the heads, each once, by where the graph has them."""
    splits = served.splits.split_numbers(np.unique(heads, axis=0))
    return {
        "train": int((splits == 0).sum()),
        "held_back": int((splits > 0).sum()),
        "nowhere": int((splits < 0).sum()),
    }


def _variables(rule: Rule) -> dict[str, Slot]:
    """Return the variables of a clause with their slots, which are numbered by first occurrence."""
    terms = (term for atom in leaves(rule.clause.formula) for term in (atom.subject, atom.object))
    names = dict.fromkeys(term.name for term in terms if isinstance(term, Variable))
    return {name: Slot("variable", index) for index, name in enumerate(names)}


def _bins(broken: Floats, tolerance: float) -> list[dict[str, Any]]:
    """Count the instances that break a clause by no more than the tolerance, and the others by how much they do."""
    above = broken[broken > tolerance]
    bins: list[dict[str, Any]] = [{"from": 0.0, "to": tolerance, "count": len(broken) - len(above)}]
    if len(above):
        counts, edges = np.histogram(above, bins=_BINS, range=(tolerance, float(above.max())))
        bins += [
            {"from": low, "to": high, "count": count}
            for low, high, count in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        ]
    return bins
