"""The projection onto any order: pairs swept a fixed number of times (Hildreth 1957), and a last pass upwards.

Each pair gives way by what keeps it apart, as much in all as its pressure. The last pass raises what is still too
low, so that it ends inside the set without rounding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

_SWEEPS, _LEAST_SWEEPS, _PAIRS_SWEPT = 30, 3, 6_000
MOST_TURNS = 32
ENOUGH = 1e-5
"""Sweeps end when no change is larger: steps of a training are, and the last pass makes up for it."""


@dataclass(frozen=True, eq=False)
class Sweeps:
    """Pairs of classes in turns of which each holds a class once, and levels in which lower ones come first.

    Where that takes too many turns all pairs are one, and each gives way by a part of what it would alone.
    """

    turns: list[tuple[Tensor, Tensor]]  # lower and upper
    levels: list[tuple[Tensor, Tensor]]
    sweeps: int
    damping: float

    @staticmethod
    def of(pairs: list[tuple[int, int]], device: torch.device) -> Sweeps:
        """Deal pairs, of which lower ones come first, into turns and levels."""

        def sides(turn: list[tuple[int, int]]) -> tuple[Tensor, Tensor]:
            lower, upper = zip(*turn, strict=True)
            return torch.tensor(lower, device=device), torch.tensor(upper, device=device)

        turns, damping = turns_of(pairs), 1.0
        if len(turns) > MOST_TURNS:
            degrees = Counter(one for pair in pairs for one in pair)
            turns, damping = [pairs], 1 / max(degrees.values())
        return Sweeps([*map(sides, turns)], [*map(sides, levels_of(pairs))], sweeps_over(len(pairs)), damping)

    def project_(self, values: Tensor, weights: Tensor) -> None:
        """Sweep values [classes, columns] with their weights, and then raise what is below another."""
        pressures = [values.new_zeros(len(lower), values.shape[1]) for lower, _ in self.turns]
        for _ in range(self.sweeps):
            moved = 0.0
            for pressure, (lower, upper) in zip(pressures, self.turns, strict=True):
                light, heavy = 1 / weights[lower], 1 / weights[upper]
                change = torch.maximum(self.damping * (values[lower] - values[upper]) / (light + heavy), -pressure)
                pressure += change
                values.index_add_(0, lower, -light * change)
                values.index_add_(0, upper, heavy * change)
                if values.device.type == "cpu":
                    moved = max(moved, float((change * (light + heavy)).abs().max()))
            if values.device.type == "cpu" and moved <= ENOUGH:
                break
        for lower, upper in self.levels:
            raised = values[lower]
            values.scatter_reduce_(0, upper.unsqueeze(1).expand_as(raised), raised, "amax")


def sweeps_over(pairs: int) -> int:
    """Return how often pairs are swept: thousands less often, as each step of a training goes on with it."""
    return max(_LEAST_SWEEPS, min(_SWEEPS, _PAIRS_SWEPT // max(1, pairs)))


def levels_of(pairs: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Return pairs, of which lower ones come first, by level: below a level are earlier ones alone."""
    level: dict[int, int] = {}
    for lower, upper in pairs:
        level[upper] = max(level.get(upper, 0), level.get(lower, 0) + 1)
    by_level: dict[int, list[tuple[int, int]]] = {}
    for lower, upper in pairs:
        by_level.setdefault(level[upper], []).append((lower, upper))
    return [by_level[at] for at in sorted(by_level)]


Together = TypeVar("Together", bound=tuple[int, ...])


def turns_of(pairs: Sequence[Together]) -> list[list[Together]]:
    """Deal pairs, or more than two, into turns in which no class occurs twice, each into the first one that it fits."""
    turns: list[list[Together]] = []
    taken: dict[int, set[int]] = {}
    for pair in pairs:
        busy = set[int]().union(*(taken.setdefault(one, set()) for one in pair))
        at = next(number for number in range(len(busy) + 1) if number not in busy)
        for one in pair:
            taken[one].add(at)
        if at == len(turns):
            turns.append([])
        turns[at].append(pair)
    return turns
