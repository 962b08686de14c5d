"""Whether two runs have one graph: ranks can be compared only among the same entities, facts and filters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from clausal.errors import InputError
from clausal.graph.facts import Facts, fact_keys
from clausal.graph.graph import Graph
from clausal.graph.query import name_fact

_NAMED = 3


def require_same_graph(one: Graph, other: Graph, label: str, other_label: str) -> None:
    """Refuse two graphs that are not the same, with what one has and the other lacks."""
    found = [
        *_vocabulary("entities", one.entities, other.entities, label, other_label),
        *_vocabulary("relations", one.relations, other.relations, label, other_label),
    ]
    if not found:
        for split in one.splits:
            found += _facts(split, one, other, label, other_label)
    if found:
        raise InputError(
            f"{label} and {other_label} were not trained on the same graph, so their ranks cannot be compared: "
            + "; ".join(found)
            + ". Train both on one graph with one split (--split-seed), and compare them again"
        )


def _vocabulary(kind: str, names: Sequence[str], others: Sequence[str], label: str, other_label: str) -> list[str]:
    if list(names) == list(others):
        return []
    found = [*_lacking(kind, names, others, label), *_lacking(kind, others, names, other_label)]
    return found or [f"the {kind} have other numbers"]


def _lacking(kind: str, names: Iterable[str], others: Iterable[str], label: str) -> list[str]:
    known = set(others)
    own = [name for name in names if name not in known]
    if not own:
        return []
    return [f"{len(own):,} {kind} are only in {label}: {', '.join(own[:_NAMED])}" + ", …" * (len(own) > _NAMED)]


def _facts(split: str, one: Graph, other: Graph, label: str, other_label: str) -> list[str]:
    mine, theirs = one.splits[split], other.splits[split]
    if np.array_equal(mine, theirs):
        return []
    return [*_only(split, one, mine, theirs, label), *_only(split, other, theirs, mine, other_label)]


def _only(split: str, graph: Graph, facts: Facts, others: Facts, label: str) -> list[str]:
    sizes = len(graph.entities), len(graph.relations)
    own = facts[~np.isin(fact_keys(facts, *sizes), fact_keys(others, *sizes))]
    if not len(own):
        return []
    names = ", ".join(str(name_fact(graph, fact)) for fact in own[:_NAMED])
    return [f"{len(own):,} facts of {split} are only in {label}: {names}" + ", …" * (len(own) > _NAMED)]
