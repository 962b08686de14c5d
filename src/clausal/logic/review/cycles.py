"""Which relations depend on themselves through clauses: the strongly connected parts of the dependency graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from clausal.logic.syntax import Clause, Formula, Iff, Implies, children, leaves


def find_cycles(clauses: Iterable[Clause]) -> list[tuple[str, ...]]:
    """Return the groups of relations that imply one another, or one that implies itself, in order of names."""
    edges: dict[str, set[str]] = defaultdict(set)
    for clause in clauses:
        for body, head in _implications(clause.formula):
            for atom in leaves(body):
                edges[atom.relation].update(other.relation for other in leaves(head))
    return sorted(
        tuple(sorted(component))
        for component in _components(edges)
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


def _components(edges: dict[str, set[str]]) -> Iterator[list[str]]:
    """Yield the strongly connected components (Tarjan 1972), without recursion: chains of relations can be long."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    for root in list(edges):
        if root in order:
            continue
        work = [(root, iter(sorted(edges[root])))]
        _enter(root, order, lowest, stack, on_stack)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in order:
                    _enter(successor, order, lowest, stack, on_stack)
                    work.append((successor, iter(sorted(edges.get(successor, ())))))
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


def _enter(node: str, order: dict[str, int], lowest: dict[str, int], stack: list[str], on_stack: set[str]) -> None:
    order[node] = lowest[node] = len(order)
    stack.append(node)
    on_stack.add(node)
