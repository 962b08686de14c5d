"""Test-I and Test-II of Guo et al. (2016): test facts that do not follow from train by clauses, and those that do."""

from __future__ import annotations

from dataclasses import replace

from clausal.errors import InputError
from clausal.graph import Graph
from clausal.graph.facts import occur_in
from clausal.logic.closure.fixpoint import Closure


def partition(graph: Graph, closure: Closure) -> Graph:
    """Return the graph with the parts ``test-I`` (not in the closure of train) and ``test-II`` (in it)."""
    if not closure.complete:
        raise InputError("a closure that was stopped early does not tell which test facts follow; close to the end")
    if not len(graph.test):
        raise InputError(f"{graph.name}: no test facts to partition; expected a folder with train and test")
    deducible = occur_in(graph.test, closure.facts, len(graph.entities), len(graph.relations))
    return replace(graph, parts={"test-I": graph.test[~deducible], "test-II": graph.test[deducible]})
