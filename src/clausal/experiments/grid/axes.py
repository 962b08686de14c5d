"""The axes of the paper's grid, by setting, and the points that they span."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from clausal.errors import InputError
from clausal.experiments.tables.rows import Row

Axes = Mapping[str, tuple[Any, ...]]
"""The values to try of each setting, such as ``{"model.dim": (100, 200)}``."""
Point = dict[str, Any]
"""One value of each setting."""

FACT_AXES: Axes = {
    "model.dim": (20, 50, 100, 150, 200),
    "model.domain": ("cube", "sphere"),
    "facts.margin": (1, 2, 5, 10),
}
CLAUSE_AXES: Axes = {
    "clauses.weight": (1, 10, 100, 1_000, 10_000),
    "clauses.sets": (1, 10, 100),
    "clauses.steps": (1, 10),
}
"""The sets B are from the authors' scripts; the paper does not give them."""


def axes_of(row: Row, changes: Axes | None = None) -> dict[str, tuple[Any, ...]]:
    """Return the paper's axes for a row; ``changes`` replace the values of some, or add axes.

    A row without clauses has no axes of clauses, and one in closed form no sets and no steps.
    """
    names = {"none": [], "one-atom": ["clauses.weight"]}.get(row.uses, list(CLAUSE_AXES))
    axes = dict(FACT_AXES) | {name: CLAUSE_AXES[name] for name in names}
    for name, values in (changes or {}).items():
        if name in axes or name not in CLAUSE_AXES:
            axes[name] = tuple(values)
    if 0 in axes.get("clauses.weight", ()):
        raise InputError(
            f"{row.name}: clauses.weight must not be 0 in the grid: that is the model without clauses, "
            "which a row with clauses must not be chosen as"
        )
    return axes


def points(axes: Axes) -> list[Point]:
    """Return every combination of the values."""
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def assignments(point: Point) -> list[str]:
    """Return a point as ``section.key=value`` changes of settings."""
    return [f"{name}={value}" for name, value in point.items()]
