"""Which relations depend on themselves through clauses: the strongly connected parts of the dependency graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from clausal.logic.syntax import Clause, Formula, Iff, Implies, children, leaves

_Node = TypeVar("_Node", bound=Hashable)


def find_cycles(clauses: Iterable[Clause]) -> list[tuple[str, ...]]:
    """Return the groups of relations that imply one another, or one that implies itself, in order of names."""
    edges: dict[str, set[str]] = defaultdict(set)
    for clause in clauses:
        for body, head in _implications(clause.formula):
            for atom in leaves(body):
                edges[atom.relation].update(other.relation for other in leaves(head))
    return sorted(
        tuple(sorted(component))
        for component in strongly_connected(edges)
        if len(component) > 1 or component[0] in edges[component[0]]
    )


def _implications(formula: Formula) -> Iterator[tuple[Formula, Formula]]:
    match formula:
        case Implies(body, head):
            yield body, head
        case Iff(left, right):
            yield left, right
            yield right, left
    for child in children(formula):
        yield from _implications(child)


def strongly_connected(edges: Mapping[_Node, Iterable[_Node]]) -> Iterator[list[_Node]]:
    """Yield the strongly connected components (Tarjan 1972), each after those that its edges lead to.

    Without recursion: chains of relations can be long.
    """
    order: dict[_Node, int] = {}
    lowest: dict[_Node, int] = {}
    stack: list[_Node] = []
    on_stack: set[_Node] = set()
    for root in list(edges):
        if root in order:
            continue
        work = [(root, iter(sorted(edges[root], key=repr)))]
        _enter(root, order, lowest, stack, on_stack)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in order:
                    _enter(successor, order, lowest, stack, on_stack)
                    work.append((successor, iter(sorted(edges.get(successor, ()), key=repr))))
                    break
                if successor in on_stack:
                    lowest[node] = min(lowest[node], order[successor])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[node])
                if lowest[node] == order[node]:
                    start = stack.index(node)
                    component = stack[start:]
                    del stack[start:]
                    on_stack.difference_update(component)
                    yield component


def _enter(
    node: _Node, order: dict[_Node, int], lowest: dict[_Node, int], stack: list[_Node], on_stack: set[_Node]
) -> None:
    order[node] = lowest[node] = len(order)
    stack.append(node)
    on_stack.add(node)
