"""The Euclidean projection onto equalities and an order, for many columns of numbers at once.

The nearest point of a class of equal numbers is their mean. On a rooted tree of classes the projection is exact: the
value of v, if only what lies below it counted, is the λ with wᵥ (xᵥ − λ) + Σ over children c of [g_c(λ)]₊ = 0, where
g_c is the same sum for c. g is convex, decreasing and made of straight pieces, so Newton's method from λ = xᵥ climbs to
its root in a few steps. From the root of the tree down, each class then takes the smaller of this λ and the value of
its parent. Other orders are swept a fixed number of times (Hildreth 1957), and a last pass upwards raises what is still
too low. However good a value is, the pass down, or upwards, ends inside the set without rounding.

All of it is operations of torch on indices that are made once, so that a CUDA graph can hold them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.adversary.hard.structure import Structure, Tree

_MORE_STEPS = 3
"""Newton's steps beyond the logarithm of a tree's size: more than it took on random numbers of any tree tried."""
_SWEEPS, _LEAST_SWEEPS, _PAIRS_SWEPT = 30, 3, 30_000
_MOST_TURNS = 32
_SETTLED = 1e-7
"""Relative changes below this are rounding, in single precision."""


class Projection:
    """Projects numbers [nodes, columns] onto a structure."""

    def __init__(self, structure: Structure, device: torch.device) -> None:
        self.class_of = torch.tensor(structure.class_of, device=device)
        self.signs = torch.tensor(structure.signs, device=device, dtype=torch.float32).unsqueeze(1)
        self.sizes = torch.tensor(structure.sizes, device=device, dtype=torch.float32).unsqueeze(1)
        self.pooled = max(structure.sizes, default=1) > 1
        self.signed = min(structure.signs, default=1) < 0
        self.zero = torch.tensor(structure.zero, device=device, dtype=torch.long)
        self.non_negative = torch.tensor(structure.non_negative, device=device, dtype=torch.long)
        self.forest = Forest.of(structure.trees, structure.sizes, device) if structure.trees else None
        self.rest = Sweeps.of(structure.rest, structure.sizes, device) if structure.rest else None

    def project_(self, table: Tensor, places: Tensor) -> None:
        """Project the numbers at places [nodes, columns] of a table's memory, in their place."""
        table[places] = self(table[places])

    def __call__(self, numbers: Tensor) -> Tensor:
        """Return numbers [nodes, columns] in the set: the nearest, or near it."""
        signs = self.signs.to(numbers.dtype)
        values = signs * numbers if self.signed else numbers
        if self.pooled:
            sums = values.new_zeros(len(self.sizes), values.shape[1]).index_add_(0, self.class_of, values)
            values = sums / self.sizes.to(numbers.dtype)
        else:
            values = torch.empty_like(values).index_copy_(0, self.class_of, values)
        if len(self.zero):
            values.index_fill_(0, self.zero, 0.0)
        if self.forest is not None:
            self.forest.project_(values)
        if self.rest is not None:
            self.rest.project_(values)
        if len(self.non_negative):
            values.index_copy_(0, self.non_negative, values[self.non_negative].clamp_min(0.0))
        projected = values[self.class_of]
        return signs * projected if self.signed else projected


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees side by side, level by level, and a copy of what lies below each class that has children.

    The copies of one class, its owner, stand level by level too, owners first.
    """

    classes: Tensor  # [nodes]
    orientation: Tensor  # [nodes, 1], −1 where values fall towards the root
    parents: Tensor  # [nodes], positions in ``classes``
    levels: list[tuple[int, int]]  # slices of nodes by depth
    copied: Tensor  # [copies], positions in ``classes``
    owners: Tensor  # [copies], which of the first copies it belongs to
    owned_by: Tensor  # [copies], the copy of its parent under the same owner
    copy_levels: list[tuple[int, int]]  # slices of copies by depth below the owner
    weights: Tensor  # [copies, 1]
    steps: int

    @staticmethod
    def of(trees: list[Tree], sizes: list[int], device: torch.device) -> Forest:
        """Lay out trees."""
        classes: list[int] = []
        orientation: list[float] = []
        parents: list[int] = []
        depths: list[int] = []
        for tree in trees:
            start = len(classes)
            classes += tree.classes
            orientation += [1.0 if tree.rising else -1.0] * len(tree.classes)
            for parent in tree.parents:
                parents.append(start + parent if parent >= 0 else -1)
                depths.append(depths[start + parent] + 1 if parent >= 0 else 0)
        by_depth = sorted(range(len(classes)), key=depths.__getitem__)
        place = {old: new for new, old in enumerate(by_depth)}
        parents = [place.get(parents[old], -1) for old in by_depth]
        classes, orientation = [classes[old] for old in by_depth], [orientation[old] for old in by_depth]
        levels = _slices([depths[old] for old in by_depth])
        copies, largest = _copies(parents)
        numbers = {
            "classes": classes, "parents": [max(parent, 0) for parent in parents],
            "copied": [node for _, node, _, _ in copies], "owners": [owner for _, _, owner, _ in copies],
            "owned_by": [above for _, _, _, above in copies],
        }  # fmt: skip
        tensors = {name: torch.tensor(value, device=device) for name, value in numbers.items()}
        return Forest(
            orientation=torch.tensor(orientation, device=device).unsqueeze(1),
            levels=levels[1:],
            copy_levels=_slices([depth for depth, _, _, _ in copies])[1:],
            weights=torch.tensor([float(sizes[classes[node]]) for _, node, _, _ in copies], device=device).unsqueeze(1),
            steps=min(largest - 1, _MORE_STEPS + largest.bit_length()),  # each leaves out a class, or ends
            **tensors,
        )

    def project_(self, values: Tensor) -> None:
        """Project the classes of the trees among values [classes, columns]."""
        numbers = self.orientation.to(values.dtype) * values[self.classes]
        owners = self.copied[: self.copy_levels[0][0]]
        own, weights = numbers[self.copied], self.weights.to(values.dtype)
        reached = numbers[owners]
        for _ in range(self.steps):
            excess = weights * (own - reached[self.owners])
            pooled = weights.expand_as(excess).clone()
            for start, stop in reversed(self.copy_levels):
                below, above = excess[start:stop], self.owned_by[start:stop]
                excess.index_add_(0, above, below.clamp_min(0.0))
                pooled.index_add_(0, above, pooled[start:stop] * (below > 0))
            step = excess[: len(owners)] / pooled[: len(owners)]
            reached = reached + step
            if values.device.type == "cpu" and not bool((step > _SETTLED * reached.abs()).any()):
                break
        numbers.index_copy_(0, owners, reached)
        for start, stop in self.levels:
            numbers[start:stop] = torch.minimum(numbers[start:stop], numbers[self.parents[start:stop]])
        values.index_copy_(0, self.classes, self.orientation.to(values.dtype) * numbers)


def _copies(parents: list[int]) -> tuple[list[tuple[int, int, int, int]], int]:
    """Return (depth, node, owner, copy of the parent) for all nodes below each that has children, owners first."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        if parent >= 0:
            children.setdefault(parent, []).append(node)
    owners = sorted(children)
    level = [(0, node, owner, owner) for owner, node in enumerate(owners)]
    copies: list[tuple[int, int, int, int]] = []
    counts = [0] * len(owners)
    while level:
        start = len(copies)
        copies += level
        for _, _, owner, _ in level:
            counts[owner] += 1
        level = [
            (depth + 1, child, owner, start + at)
            for at, (depth, node, owner, _) in enumerate(level)
            for child in children.get(node, ())
        ]
    return copies, max(counts)


def _slices(depths: list[int]) -> list[tuple[int, int]]:
    """Return where each depth starts and ends among sorted depths."""
    starts = [at for at, depth in enumerate(depths) if at == 0 or depth != depths[at - 1]]
    return list(zip(starts, [*starts[1:], len(depths)], strict=True))


@dataclass(frozen=True, eq=False)
class Sweeps:
    """Pairs of classes in turns of which each holds a class once, and levels in which lower ones come first.

    Where that takes too many turns all pairs are one, and each gives way by a part of what it would alone.
    """

    turns: list[tuple[Tensor, Tensor, Tensor, Tensor]]  # lower, upper, and what each gives way by
    levels: list[tuple[Tensor, Tensor]]
    sweeps: int
    damping: float

    @staticmethod
    def of(pairs: list[tuple[int, int]], sizes: list[int], device: torch.device) -> Sweeps:
        """Deal pairs, of which lower ones come first, into turns and levels."""

        def shares(turn: list[tuple[int, int]]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
            lower, upper = (torch.tensor(column, device=device) for column in zip(*turn, strict=True))
            parts = torch.tensor([shares_of(pair, sizes) for pair in turn], device=device).unsqueeze(-1)
            first, second = parts.unbind(1)
            return lower, upper, first, second

        turns, damping = turns_of(pairs), 1.0
        if len(turns) > _MOST_TURNS:
            degrees = Counter(one for pair in pairs for one in pair)
            turns, damping = [pairs], 1 / max(degrees.values())
        levels = [shares(level)[:2] for level in levels_of(pairs)]
        return Sweeps([shares(turn) for turn in turns], levels, sweeps_over(pairs), damping)

    def project_(self, values: Tensor) -> None:
        """Sweep values [classes, columns], and then raise what is below another."""
        pressures = [values.new_zeros(len(lower), values.shape[1]) for lower, _, _, _ in self.turns]
        for _ in range(self.sweeps):
            moved = 0.0
            for pressure, (lower, upper, first, second) in zip(pressures, self.turns, strict=True):
                change = torch.maximum(self.damping * (values[lower] - values[upper]), -pressure)
                pressure += change
                values.index_add_(0, lower, -first.to(values.dtype) * change)
                values.index_add_(0, upper, second.to(values.dtype) * change)
                if values.device.type == "cpu":
                    moved = max(moved, float(change.abs().max()))
            if values.device.type == "cpu" and moved <= _SETTLED:
                break
        for lower, upper in self.levels:
            raised = values[lower]
            values.scatter_reduce_(0, upper.unsqueeze(1).expand_as(raised), raised, "amax")


def shares_of(pair: tuple[int, int], sizes: list[int]) -> tuple[float, float]:
    """Return what the lower and the upper class of a pair give way by: larger ones less."""
    lower, upper = (1 / sizes[one] for one in pair)
    return lower / (lower + upper), upper / (lower + upper)


def sweeps_over(pairs: list[tuple[int, int]]) -> int:
    """Return how often pairs are swept: thousands less often, as each step of a training goes on with it."""
    return max(_LEAST_SWEEPS, min(_SWEEPS, _PAIRS_SWEPT // max(1, len(pairs))))


def levels_of(pairs: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Return pairs, of which lower ones come first, by level: below a level are earlier ones alone."""
    level: dict[int, int] = {}
    for lower, upper in pairs:
        level[upper] = max(level.get(upper, 0), level.get(lower, 0) + 1)
    by_level: dict[int, list[tuple[int, int]]] = {}
    for lower, upper in pairs:
        by_level.setdefault(level[upper], []).append((lower, upper))
    return [by_level[at] for at in sorted(by_level)]


def turns_of(pairs: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Deal pairs into turns in which no class occurs twice, each pair into the first one that it fits."""
    turns: list[list[tuple[int, int]]] = []
    taken: dict[int, set[int]] = {}
    for lower, upper in pairs:
        busy = taken.setdefault(lower, set()) | taken.setdefault(upper, set())
        at = next(number for number in range(len(busy) + 1) if number not in busy)
        taken[lower].add(at)
        taken[upper].add(at)
        if at == len(turns):
            turns.append([])
        turns[at].append((lower, upper))
    return turns
