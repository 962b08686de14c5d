"""The axes of the paper's grid, by setting, and the points that they span."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from clausal.errors import InputError
from clausal_paper.tables.rows import Row

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


KALE_AXES: Axes = {"kale.dim": (20, 50, 100), "kale.margin": (0.1, 0.12, 0.15, 0.2)}
RULE_AXES: Axes = {"kale.rule_weight": (0.01, 0.05, 0.1)}
"""Of Guo et al.'s KALE; its rule weight is for KALE-Joint alone."""


_ALL = {**FACT_AXES, **CLAUSE_AXES, **KALE_AXES, **RULE_AXES}


def axes_of(row: Row, changes: Axes | None = None) -> dict[str, tuple[Any, ...]]:
    """Return the paper's axes for a row; ``changes`` replace the values of some, or add axes.

    A row without clauses has no axes of clauses, and one in closed form no sets and no steps.
    """
    axes = _paper_axes(row)
    for name, values in (changes or {}).items():
        if name in axes or name not in _ALL:
            axes[name] = tuple(values)
    if 0 in axes.get("clauses.weight", ()):
        raise InputError(
            f"{row.name}: clauses.weight must not be 0 in the grid: that is the model without clauses, "
            "which a row with clauses must not be chosen as"
        )
    return axes


def _paper_axes(row: Row) -> dict[str, tuple[Any, ...]]:
    if row.is_kale:
        return dict(KALE_AXES) | (dict(RULE_AXES) if row.model == "kale-joint" else {})
    names = {"none": [], "one-atom": ["clauses.weight"]}.get(row.uses, list(CLAUSE_AXES))
    return dict(FACT_AXES) | {name: CLAUSE_AXES[name] for name in names}


def points(axes: Axes) -> list[Point]:
    """Return every combination of the values."""
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def assignments(point: Point) -> list[str]:
    """Return a point as ``section.key=value`` changes of settings."""
    return [f"{name}={value}" for name, value in point.items()]
