"""The projection onto balances, Σ coefficient · value ≤ 0: rows swept as pairs are, and a last pass that ends inside.

The last pass takes rows level by level and moves some values of each, down or up, by what is still missing. It counts
in double precision, adds more than that can be wrong by, and rounds away from the border, so that the sums of what is
stored obey without rounding. A value that is compared with one mean alone goes no further than the least, or largest,
of what that is the mean of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor

from clausal.adversary.hard.structure import Row, Structure
from clausal.adversary.hard.sweeps import MOST_TURNS, sweeps_over, turns_of

MARGIN = 2.0**-40
"""Sums in double precision are off by less than this, relative to the sum of sizes."""
PAIRS_PER_ROW = 4
"""A row takes as long as so many pairs."""


@dataclass(frozen=True, eq=False)
class Level:
    """Rows side by side, filled up with coefficients of 0."""

    classes: Tensor  # [rows, width]
    coefficients: Tensor  # [rows, width, 1]
    moved: Tensor  # [rows, width, 1]
    falling: Tensor  # [rows, 1, 1]
    lone: Tensor  # [rows, 1, 1]
    to_zero: Tensor  # [rows, 1, 1]

    @staticmethod
    def of(rows: Sequence[Row], device: torch.device) -> Level:
        """Lay out rows."""
        width = max(len(row.classes) for row in rows)

        def padded(values: Sequence[float]) -> list[float]:
            return [*values, *[0] * (width - len(values))]

        def tensor(values: Sequence[Sequence[float]], dtype: torch.dtype) -> Tensor:
            return torch.tensor(values, device=device, dtype=dtype).unsqueeze(-1)

        return Level(
            tensor([padded(row.classes) for row in rows], torch.long).squeeze(-1),
            tensor([padded(row.coefficients) for row in rows], torch.float64),
            tensor([padded(row.moved) for row in rows], torch.bool),
            tensor([[row.falling] for row in rows], torch.bool),
            tensor([[row.lone] for row in rows], torch.bool),
            tensor([[row.to_zero] for row in rows], torch.bool),
        )


@dataclass(frozen=True, eq=False)
class Balances:
    """Rows in turns of which each holds a class once, and in levels for the last pass."""

    turns: list[Level]
    levels: list[Level]
    classes: Tensor
    non_negative: Tensor
    within: bool
    sweeps: int
    damping: float

    @staticmethod
    def of(structure: Structure, device: torch.device) -> Balances:
        """Deal the rows of a structure into turns and levels."""
        rows = structure.rows
        turns, damping = rows_in_turns(rows), 1.0
        if len(turns) > MOST_TURNS:
            degrees = Counter(one for row in rows for one in row.classes)
            turns, damping = [rows], 1 / max(degrees.values())
        levels = [list(level) for _, level in groupby(rows, key=lambda row: (row.level, row.lone))]
        own = {one for row in rows for one in row.classes}
        return Balances(
            [Level.of(turn, device) for turn in turns],
            [Level.of(level, device) for level in levels],
            torch.tensor(sorted(own), device=device),
            torch.tensor(sorted(own.intersection(structure.non_negative)), device=device, dtype=torch.long),
            structure.within,
            sweeps_over(PAIRS_PER_ROW * len(rows)),
            damping,
        )

    def project_(self, values: Tensor, weights: Tensor) -> None:
        """Project the classes of the rows among values [classes, columns] with their weights."""
        least, largest = values[self.classes].amin(0), values[self.classes].amax(0)
        pressures = [values.new_zeros(len(turn.classes), 1, values.shape[1]) for turn in self.turns]
        for _ in range(self.sweeps):
            for pressure, turn in zip(pressures, self.turns, strict=True):
                self._sweep(values, weights, pressure, turn)
        if self.within:
            values.index_copy_(0, self.classes, values[self.classes].clamp(least, largest))
        values.index_copy_(0, self.non_negative, values[self.non_negative].clamp_min(0.0))
        for level in self.levels:
            self._finish(values, level)

    def _sweep(self, values: Tensor, weights: Tensor, pressure: Tensor, turn: Level) -> None:
        coefficients = turn.coefficients.to(values.dtype)
        slopes = coefficients / weights[turn.classes]
        excess = (coefficients * values[turn.classes]).sum(1, keepdim=True)
        change = torch.maximum(self.damping * excess / (coefficients * slopes).sum(1, keepdim=True), -pressure)
        pressure += change
        values.index_add_(0, turn.classes.flatten(), -(slopes * change).flatten(0, 1))

    def _finish(self, values: Tensor, level: Level) -> None:
        """Move values until each row of a level is obeyed."""
        before = values[level.classes]
        terms = level.coefficients * before.double()
        excess = terms.sum(1, keepdim=True) + MARGIN * terms.abs().sum(1, keepdim=True)
        step = excess / (level.coefficients * level.moved).abs().sum(1, keepdim=True)
        way = torch.where(level.falling, -1.0, 1.0).to(values.dtype)
        after = way * torch.nextafter((before + way * step).to(values.dtype), way * torch.inf)
        fixed = (level.coefficients != 0) & ~level.moved
        furthest = torch.where(fixed, way * before, -torch.inf).amax(1, keepdim=True)
        after = way * torch.where(level.lone, torch.minimum(after, furthest), after)
        after = torch.where(level.to_zero, 0.0, after)
        for side, how, neutral in ((level.falling, "amin", torch.inf), (~level.falling, "amax", -torch.inf)):
            moved = torch.where(side & level.moved & (excess > 0), after, neutral).flatten(0, 1)
            values.scatter_reduce_(0, level.classes.flatten().unsqueeze(1).expand_as(moved), moved, how)


def rows_in_turns(rows: Sequence[Row]) -> list[list[Row]]:
    """Deal rows into turns in which no class occurs twice."""
    by_classes: dict[tuple[int, ...], list[Row]] = {}
    for row in rows:
        by_classes.setdefault(row.classes, []).append(row)
    return [[by_classes[classes].pop() for classes in turn] for turn in turns_of([row.classes for row in rows])]
