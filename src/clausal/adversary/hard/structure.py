"""Equalities and an order among numbers, taken apart for their projection: classes, trees, and the rest.

Cycles of the order are equalities. Equal numbers are a class, each with a sign; where signs conflict the class is
zero. What is left is an order of classes without cycles. A part of it in which each class has at most one other right
above it, or each at most one right below it, is a rooted tree, which has an exact projection.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from clausal.logic.review.cycles import strongly_connected

_LARGEST_REDUCED = 2000
"""Orders of more pairs than these are not searched for pairs that follow from others."""
_DEEPEST, _MOST_COPIES = 32, 20_000
"""A tree is projected exactly up to so many classes above a class on average, or in all: work grows with them."""


@dataclass
class Demands:
    """What is asked of ``nodes`` numbers."""

    nodes: int
    equal: list[tuple[int, int, int]] = field(default_factory=list)  # one = sign · other
    below: list[tuple[int, int]] = field(default_factory=list)  # one ≤ other
    non_negative: set[int] = field(default_factory=set)
    zero: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Structure:
    """Numbers by class, and the order among classes."""

    class_of: list[int]  # by number
    signs: list[int]  # by number
    sizes: list[int]  # by class
    zero: list[int]  # classes
    non_negative: list[int]  # classes, with all that are above them
    trees: list[Tree]
    rest: list[tuple[int, int]]  # pairs of classes, lower and upper, lower ones first


@dataclass(frozen=True)
class Tree:
    """Classes of a rooted tree, the root first and parents before children.

    ``rising`` tells whether values grow towards the root, or fall.
    """

    classes: list[int]
    parents: list[int]  # positions in ``classes``; −1 of the root
    rising: bool


def structure_of(demands: Demands) -> Structure:
    """Take demands apart."""
    above: dict[int, set[int]] = defaultdict(set)
    for lower, upper in demands.below:
        above[lower].add(upper)
    classes = _SignedClasses(demands.nodes)
    for component in strongly_connected(above):
        for node in component[1:]:
            classes.join(component[0], node, 1)
    for one, other, sign in demands.equal:
        classes.join(one, other, sign)
    roots = [classes.find(node) for node in range(demands.nodes)]
    number = {root: place for place, root in enumerate(dict.fromkeys(root for root, _ in roots))}
    class_of, signs = [number[root] for root, _ in roots], [sign for _, sign in roots]
    sizes = [0] * len(number)
    for place in class_of:
        sizes[place] += 1
    zero = {number[root] for root in number if classes.conflict[root]} | {class_of[node] for node in demands.zero}
    edges: dict[int, set[int]] = defaultdict(set)
    for lower, upper in demands.below:
        if class_of[lower] != class_of[upper]:
            edges[class_of[lower]].add(class_of[upper])
    order = {one: place for place, (one,) in enumerate(strongly_connected(edges))}  # upper ones first
    positive = {class_of[node] for node in demands.non_negative}
    for one in sorted(order, key=order.__getitem__, reverse=True):  # from below
        if one in positive:
            positive |= edges.get(one, set())
    trees, rest = _trees_and_rest(edges, order)
    return Structure(class_of, signs, sizes, sorted(zero), sorted(positive), trees, rest)


def _trees_and_rest(edges: dict[int, set[int]], order: dict[int, int]) -> tuple[list[Tree], list[tuple[int, int]]]:
    trees, rest = [], []
    for part in _connected(edges):
        pairs = {(lower, upper) for lower in part for upper in edges.get(lower, ())}
        tree = _tree(pairs, order) or (_tree(_reduced(pairs), order) if len(pairs) <= _LARGEST_REDUCED else None)
        if tree is not None:
            trees.append(tree)
        else:
            rest += sorted(_reduced(pairs) if len(pairs) <= _LARGEST_REDUCED else pairs)
    return trees, sorted(rest, key=lambda pair: -order[pair[0]])


def _tree(pairs: set[tuple[int, int]], order: dict[int, int]) -> Tree | None:
    """Return a part of the order as a rooted tree, or None where it is none, or a very deep one."""
    lower, upper = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    rising = len(set(lower)) == len(lower)
    if not rising and len(set(upper)) < len(upper):
        return None
    parent = dict(pairs) if rising else {above: below for below, above in pairs}
    classes = sorted({*lower, *upper}, key=lambda one: order[one] if rising else -order[one])  # parents first
    depth: dict[int, int] = {}
    for one in classes:
        depth[one] = depth[parent[one]] + 1 if one in parent else 0
    if sum(depth.values()) > max(_DEEPEST * len(classes), _MOST_COPIES):
        return None
    place = {one: at for at, one in enumerate(classes)}
    return Tree(classes, [place[parent[one]] if one in parent else -1 for one in classes], rising)


def _reduced(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Leave out what follows from other pairs: a ≤ c where there are a ≤ b and b ≤ c."""
    edges: dict[int, set[int]] = defaultdict(set)
    for lower, upper in pairs:
        edges[lower].add(upper)
    beyond: dict[int, set[int]] = {}
    for (one,) in strongly_connected(edges):  # upper ones first
        above = edges.get(one, set())
        beyond[one] = above.union(*(beyond[other] for other in above))
    return {
        (lower, upper)
        for lower, upper in pairs
        if not any(upper in beyond[other] for other in edges[lower] if other != upper)
    }


def _connected(edges: dict[int, set[int]]) -> Iterable[list[int]]:
    """Return the parts of an order that have nothing to do with each other."""
    nodes = sorted({*edges, *(upper for above in edges.values() for upper in above)})
    place = {node: at for at, node in enumerate(nodes)}
    parts = _SignedClasses(len(nodes))
    for lower, above in edges.items():
        for upper in above:
            parts.join(place[lower], place[upper], 1)
    members: dict[int, list[int]] = defaultdict(list)
    for node in nodes:
        members[parts.find(place[node])[0]].append(node)
    return members.values()


class _SignedClasses:
    """Sets of numbers that are equal up to signs, by union and find."""

    def __init__(self, nodes: int) -> None:
        self.parent = list(range(nodes))
        self.sign = [1] * nodes
        self.conflict = [False] * nodes

    def find(self, node: int) -> tuple[int, int]:
        """Return the root of a number, and its sign there."""
        path, sign = [], 1
        while self.parent[node] != node:
            path.append(node)
            node = self.parent[node]
        for one in reversed(path):  # each now points at the root
            sign *= self.sign[one]
            self.parent[one], self.sign[one] = node, sign
        return node, sign

    def join(self, one: int, other: int, sign: int) -> None:
        """Say that one = sign · other."""
        (root, first), (other_root, second) = self.find(one), self.find(other)
        if root == other_root:
            self.conflict[root] |= first != sign * second
            return
        self.parent[other_root], self.sign[other_root] = root, first * sign * second
        self.conflict[root] |= self.conflict[other_root]
