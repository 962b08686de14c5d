"""What a race varies, setting by setting: the values of each, in order, so that a race can climb along them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.choices import SCORERS
from clausal.config import Settings
from clausal.graph.graph import Facts, Graph
from clausal.search.best import against_corruptions
from clausal.search.space import matters, setting

_HALF_DECADE = 10**0.5
_WEIGHTS = (3e-4, 0.3)  # the least and the largest weight of a regulariser
_BATCHES = (32, 1024)
_LEARNING_RATES = (0.03, 0.1, 0.3)
_MARGINS = (1.0, 2.0, 5.0, 10.0)
_SMOOTHING = 0.1

Ladder = tuple[str, tuple[Any, ...]]
"""A setting and its values, the start's own among them."""


def regulariser_ladder(start: Settings, fixed: Collection[str], factor: float = _HALF_DECADE) -> list[Ladder]:
    """Return weights of the regulariser by a factor around the start's own; none where they mean nothing."""
    name = "facts.regulariser_weight"
    if name in fixed or not matters(name, start, clauses=False):
        return []
    own: float = setting(start, name)
    low, high = _WEIGHTS
    down, up = [own], [own]
    while down[-1] / factor >= low * 0.99:
        down.append(_two_digits(down[-1] / factor))
    while up[-1] * factor <= high * 1.01:
        up.append(_two_digits(up[-1] * factor))
    return [(name, (*reversed(down), *up[1:]))]


def relation_weights(start: Settings, fixed: Collection[str]) -> list[str]:
    """Return the name of the weight of predicting relations, where there can be one and a user gave none."""
    name = "facts.relation_weight"
    possible = start.facts.training == "1-vs-all" and SCORERS[start.model.scorer].trilinear
    return [name] if possible and not start.facts.relation_weight and name not in fixed else []


def smoothing(start: Settings, fixed: Collection[str]) -> dict[str, float]:
    """Return the label smoothing to try: none where the start has some, and else some."""
    name = "facts.label_smoothing"
    possible = start.facts.training != "corruption" and name not in fixed
    return {name: 0.0 if start.facts.label_smoothing else _SMOOTHING} if possible else {}


def share_of_linked(graph: Graph) -> float:
    """Return the share of valid facts whose two entities train links already, by any relation in any direction."""

    def pairs(facts: Facts) -> NDArray[np.int64]:
        ends = np.sort(facts[:, [0, 2]].astype(np.int64), axis=1)
        return ends[:, 0] * len(graph.entities) + ends[:, 1]

    return float(np.isin(pairs(graph.valid), pairs(graph.train)).mean()) if len(graph.valid) else 0.0


def further_ladders(start: Settings, fixed: Collection[str]) -> list[Ladder]:
    """Return what else can be climbed, the most rewarding first."""
    ladders: list[Ladder] = []
    if start.facts.loss in ("hinge", "pairwise"):
        ladders.append(("facts.margin", _with(_MARGINS, start.facts.margin)))
    if start.facts.batch_size and start.facts.training != "corruption":
        size, (low, high) = start.facts.batch_size, _BATCHES
        ladders.append(("facts.batch_size", tuple(sorted({max(low, size // 4), size, max(size, min(high, size * 4))}))))
    ladders.append(("train.learning_rate", _with(_LEARNING_RATES, start.train.learning_rate)))
    return [(name, values) for name, values in ladders if name not in fixed and len(values) > 1]


def other_training(start: Settings, fixed: Collection[str]) -> dict[str, Any]:
    """Return the changes that train against corruptions; none where the start does, or a user fixed what they need."""
    if start.facts.training == "corruption":
        return {}
    values = {
        f"{section}.{name}": value
        for section, own in against_corruptions(start.model.dim).items()
        for name, value in own.items()
    } | {
        "model.reciprocal": False,
        "model.initial_scale": 1.0,
        "facts.regulariser": "none",
        "facts.relation_weight": 0.0,
        "facts.label_smoothing": 0.0,
        "facts.batch_size": None,
        "train.initial_accumulator": 0.1,
        "train.averaging": 0.0,
    }
    changes = {name: value for name, value in values.items() if setting(start, name) != value}
    return {} if changes.keys() & set(fixed) else changes


def _with(values: tuple[float, ...], own: float) -> tuple[float, ...]:
    return tuple(sorted({*values, own}))


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")
