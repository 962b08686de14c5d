"""The exact projection onto an order that is a forest of rooted trees.

The value of v, if only what lies below it counted, is the λ with wᵥ (xᵥ − λ) + Σ over children c of [g_c(λ)]₊ = 0,
where g_c is the same sum for c. g is convex, decreasing and made of straight pieces, so Newton's method from λ = xᵥ
climbs to its root in a few steps. From the root of the tree down, each class then takes the smaller of this λ and the
value of its parent: however good a value is, that ends inside the set without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.adversary.hard.structure import Tree

_MORE_STEPS = 3
"""Newton's steps beyond the logarithm of a tree's size: more than it took on random numbers of any tree tried."""
_SETTLED = 1e-7
"""Relative changes below this are rounding, in single precision."""


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
    steps: int

    @staticmethod
    def of(trees: list[Tree], device: torch.device) -> Forest:
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
            steps=min(largest - 1, _MORE_STEPS + largest.bit_length()),  # each leaves out a class, or ends
            **tensors,
        )

    def project_(self, values: Tensor, weights: Tensor) -> None:
        """Project the classes of the trees among values [classes, columns] with their weights."""
        numbers = self.orientation.to(values.dtype) * values[self.classes]
        owners = self.copied[: self.copy_levels[0][0]]
        own, weights = numbers[self.copied], weights[self.classes[self.copied]]
        reached = numbers[owners]
        for _ in range(self.steps):
            excess = weights * (own - reached[self.owners])
            pooled = weights.clone()
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
