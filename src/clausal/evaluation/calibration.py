"""Calibration: scores read as probabilities, and thresholds between true and false, both fitted on valid facts.

A sigmoid for each relation makes scores comparable (Platt), and a curve on top makes them probabilities: that of a fact
among as many random corruptions, as half of what they are fitted on is false.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.evaluation.labelled import Labels, label_facts
from clausal.evaluation.probabilities import Curve, Values, best_threshold, fit_curve, fit_platt, sigmoid
from clausal.evaluation.protocol import Ranker, score_facts
from clausal.graph.graph import Graph
from clausal.graph.vocabulary import Names

LEAST = 20
"""A graph with fewer valid facts has no calibration."""
_LEAST_POSITIVE = float(np.finfo(np.float32).tiny)  # that scores in single precision can tell from 0
ENOUGH_FOR_SIGMOID = 10
"""A relation with so many valid facts has a sigmoid and a threshold of its own."""
ENOUGH_FOR_CURVE = 50
"""A relation with so many valid facts has a curve of its own."""


class Fit(NamedTuple):
    """A sigmoid σ(slope · score + intercept), the score from which a fact is taken for true, and a curve.

    ``facts`` is how many labelled facts it rests on. A relation's fit may be without a curve: that of all facts then
    serves it too.
    """

    slope: float
    intercept: float
    threshold: float
    facts: int
    curve: Curve | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return an object for JSON; the curve is a list of points."""
        return {**self._asdict(), "curve": self.curve and [list(point) for point in zip(*self.curve, strict=True)]}


@dataclass(frozen=True, eq=False)
class Calibration:
    """A fit for all facts, and one for each relation, by its id, that has enough valid facts."""

    overall: Fit
    relations: Mapping[int, Fit]

    def probabilities(self, scores: Values, relations: NDArray[np.integer]) -> Values:
        """Return the probability that each fact is true, given its score and its relation's id; of ±∞ it is 1 or 0."""
        found = np.empty(len(scores))
        order = np.argsort(relations, kind="stable")
        distinct, starts = np.unique(relations[order], return_index=True)
        for relation, rows in zip(distinct.tolist(), np.split(order, starts[1:]), strict=False):
            fit = self.relations.get(relation, self.overall)
            found[rows] = sigmoid(fit.slope * scores[rows] + fit.intercept)
            curve = fit.curve or self.overall.curve
            if curve is not None:
                found[rows] = curve(found[rows])
        certain = np.isinf(scores)
        found[certain] = scores[certain] > 0
        return found

    def taken_for_true(self, scores: Values, relations: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Say of each fact whether its score reaches the threshold of its relation."""
        distinct, places = np.unique(relations, return_inverse=True)
        thresholds = [self.relations.get(relation, self.overall).threshold for relation in distinct.tolist()]
        return np.asarray(scores >= np.array(thresholds)[places.reshape(-1)])

    def to_dict(self, names: Names) -> dict[str, Any]:
        """Return what ``calibration.json`` holds, relations by name."""
        relations = {names[relation]: fit.to_dict() for relation, fit in self.relations.items()}
        return {**self.overall.to_dict(), "relations": relations}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], names: Names) -> Calibration:
        """Read what ``to_dict`` returned; raises ValueError where it is something else."""
        relations = values.get("relations")
        if not isinstance(relations, dict):
            raise ValueError("expected relations, by name")
        unknown = [name for name in relations if name not in names]
        if unknown:
            raise ValueError(f"unknown relation '{unknown[0]}'")
        overall = _read_fit({name: value for name, value in values.items() if name != "relations"})
        return cls(overall, {names.id(name): _read_fit(fit) for name, fit in relations.items()})


def calibrate(
    predictor: Ranker,
    graph: Graph,
    *,
    corruptions: int = 1,
    seed: int = 0,
    together: Iterable[Collection[int]] = (),
    above_zero: Collection[int] = (),
) -> Calibration | None:
    """Fit probabilities and thresholds on the valid facts and random corruptions of them.

    Relations that are named ``together`` have one fit: what scores higher is then more probable, whichever of them it
    is of. Those ``above_zero``, and what shares their fit, have no threshold of 0 or less. None where the graph has too
    few valid facts, or where a score is beyond all numbers.
    """
    if len(graph.valid) < LEAST:
        return None
    facts, labels = label_facts(graph.valid, graph, corruptions=corruptions, seed=seed)
    scores = score_facts(predictor, facts)
    if not np.isfinite(scores).all():
        return None
    first = np.arange(len(graph.relations))  # the relation whose fit serves each
    for alike in together:
        first[list(alike)] = min(alike)
    kind, counts = first[facts[:, 1]], np.bincount(first[graph.valid[:, 1]])
    rows = {relation: kind == relation for relation in np.flatnonzero(counts >= ENOUGH_FOR_SIGMOID).tolist()}
    fits = {relation: _fit(labels[here], scores[here]) for relation, here in rows.items()}
    # A probability that falls as the score rises would be the noise of few facts.
    fits = {relation: fit for relation, fit in fits.items() if fit.slope > 0}
    overall = _fit(labels, scores)
    sigmoids = Calibration(overall, fits).probabilities(scores, kind)
    for relation, here in rows.items():
        if relation in fits and counts[relation] >= ENOUGH_FOR_CURVE:
            fits[relation] = fits[relation]._replace(curve=fit_curve(labels[here], sigmoids[here]))
    overall = overall._replace(curve=fit_curve(labels, sigmoids))
    for relation in {int(first[one]) for one in above_zero}:
        fit = fits.get(relation, overall)
        fits[relation] = fit._replace(threshold=max(fit.threshold, _LEAST_POSITIVE))
    served = {relation: fits[one] for relation, one in enumerate(first.tolist()) if one in fits}
    return Calibration(overall, served)


def _fit(labels: Labels, scores: Values) -> Fit:
    return Fit(*fit_platt(labels, scores), best_threshold(labels, scores), len(labels))


def _read_fit(values: Any) -> Fit:
    if not isinstance(values, dict) or set(values) != set(Fit._fields):
        raise ValueError(f"expected {', '.join(Fit._fields)}")
    curve = values["curve"]
    numbers = {name: value for name, value in values.items() if name != "curve"}
    if not all(map(_is_number, numbers.values())):
        raise ValueError(f"{', '.join(numbers)} must be numbers")
    return Fit(**numbers, curve=None if curve is None else _read_curve(curve))


def _read_curve(values: Any) -> Curve:
    pairs = isinstance(values, list) and all(isinstance(point, list) and len(point) == 2 for point in values)
    if not pairs or not values or not all(_is_number(one) and 0 <= one <= 1 for point in values for one in point):
        raise ValueError("a curve must be pairs of probabilities")
    start, end = zip(*values, strict=True)
    if any(np.diff(start) <= 0) or any(np.diff(end) < 0):
        raise ValueError("a curve must rise")
    return Curve(start, end)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
