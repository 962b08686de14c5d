"""Equalities, an order and balances among numbers, taken apart for their projection: classes, trees, and the rest.

A balance, Σ coefficient · number ≤ 0, puts each number with a positive coefficient below all with a negative one.
Cycles of the order are equalities. Equal numbers are a class, each with a sign; where signs conflict the class is
zero. What is left is an order of classes without cycles. A part of it in which each class has at most one other right
above it, or each at most one right below it, is a rooted tree, which has an exact projection. A part with balances is
rows of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import gcd

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
    balances: list[tuple[tuple[int, int], ...]] = field(default_factory=list)  # Σ coefficient · number ≤ 0
    non_negative: set[int] = field(default_factory=set)
    zero: set[int] = field(default_factory=set)
    within: bool = False  # the numbers of a column stay between the least and the largest of them


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
    rows: list[Row]  # of parts with balances, in the order in which a last pass meets them
    within: bool  # whether values of rows stay between the least and the largest of them


@dataclass(frozen=True)
class Row:
    """Σ coefficient · value ≤ 0, which a last pass reaches by moving some of the classes.

    Where ``falling`` these are some with a positive coefficient, which go down, else those with a negative one, which
    go up. No class that is not moved is moved by a row of this level or a later one.
    """

    classes: tuple[int, ...]
    coefficients: tuple[int, ...]
    moved: tuple[bool, ...]
    falling: bool
    lone: bool
    """Whether it says of one value that it is at most, or at least, a mean of the others; that one is moved."""
    to_zero: bool
    """Whether all that are moved must not be negative either: they go to 0."""
    level: int


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
    for lower, upper in _pairs(demands):
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
    for lower, upper in _pairs(demands):
        if class_of[lower] != class_of[upper]:
            edges[class_of[lower]].add(class_of[upper])
    balances = _among_classes(demands, class_of)
    order = {one: place for place, (one,) in enumerate(strongly_connected(edges))}  # upper ones first
    positive = _non_negative({class_of[node] for node in demands.non_negative}, balances, order)
    parts = _connected(balances)
    trees, rest = _trees_and_rest([part for part in parts if all(map(_orders, part))], order)
    rows = [row for part in parts if not all(map(_orders, part)) for row in _rows(part, order, positive)]
    rows.sort(key=lambda row: (row.level, not row.lone))
    return Structure(class_of, signs, sizes, sorted(zero), sorted(positive), trees, rest, rows, demands.within)


def _pairs(demands: Demands) -> Iterator[tuple[int, int]]:
    """Return each number below another."""
    yield from demands.below
    for row in demands.balances:
        yield from ((one, other) for one, factor in row for other, against in row if factor > 0 > against)


def _among_classes(demands: Demands, class_of: list[int]) -> list[dict[int, int]]:
    """Return all inequalities as coefficients of classes, without those that say nothing any more."""
    found: dict[frozenset[tuple[int, int]], dict[int, int]] = {}
    for terms in [*(((lower, 1), (upper, -1)) for lower, upper in demands.below), *demands.balances]:
        total: dict[int, int] = defaultdict(int)
        for node, factor in terms:
            total[class_of[node]] += factor
        shared = gcd(*total.values())
        if shared:
            row = {one: factor // shared for one, factor in total.items() if factor}
            found[frozenset(row.items())] = row
    return list(found.values())


def _orders(row: dict[int, int]) -> bool:
    """Tell whether a row says that one value is at most another."""
    return sorted(row.values()) == [-1, 1]


def _non_negative(positive: set[int], rows: list[dict[int, int]], order: dict[int, int]) -> set[int]:
    """Return the classes that must not be negative, with what lies above such classes alone."""
    positive = set(positive)
    by_lowest = sorted(rows, key=lambda row: max((order.get(one, 0) for one in row if row[one] < 0), default=0))
    for row in reversed(by_lowest):  # from below
        if all(one in positive for one, factor in row.items() if factor > 0):
            positive |= {one for one, factor in row.items() if factor < 0}
    return positive


def _rows(own: list[dict[int, int]], order: dict[int, int], positive: set[int]) -> list[Row]:
    """Return the rows of a part: all fall where one has nothing above it, else all rise."""
    falling = any(min(row.values()) > 0 for row in own)
    way = 1 if falling else -1
    level: dict[int, int] = {}

    def reached(row: dict[int, int]) -> int:
        return max((level.get(one, 0) for one, factor in row.items() if way * factor < 0), default=0)

    moving: dict[int, list[dict[int, int]]] = defaultdict(list)
    for row in own:
        for one, factor in row.items():
            if way * factor > 0:
                moving[one].append(row)
    for one in sorted(moving, key=lambda one: way * order.get(one, 0)):
        level[one] = 1 + max(map(reached, moving[one]))
    found = []
    for row in own:
        moved = {one for one, factor in row.items() if way * factor > 0}
        lone = len(moved) == 1 and sum(row.values()) == 0
        to_zero = falling and not lone and moved <= positive
        if falling and not to_zero and not lone:
            moved -= positive
        flags = tuple(one in moved for one in row)
        found.append(Row(tuple(row), tuple(row.values()), flags, falling, lone, to_zero, reached(row)))
    return found


def _trees_and_rest(
    parts: list[list[dict[int, int]]], order: dict[int, int]
) -> tuple[list[Tree], list[tuple[int, int]]]:
    trees, rest = [], []
    for part in parts:
        ascending = (sorted(row, key=row.__getitem__, reverse=True) for row in part)
        pairs = {(lower, upper) for lower, upper in ascending}
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


def _connected(rows: list[dict[int, int]]) -> list[list[dict[int, int]]]:
    """Return rows by part: those of different ones have nothing to do with each other."""
    place = {one: at for at, one in enumerate(sorted({one for row in rows for one in row}))}
    parts = _SignedClasses(len(place))
    for first, *others in rows:
        for other in others:
            parts.join(place[first], place[other], 1)
    members: dict[int, list[dict[int, int]]] = defaultdict(list)
    for row in rows:
        members[parts.find(place[next(iter(row))])[0]].append(row)
    return list(members.values())


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
