"""Calibration: scores read as probabilities, and thresholds between true and false, both fitted on valid facts.

A sigmoid for each relation makes scores comparable (Platt), and one curve for all makes them probabilities: that of a
fact among as many random corruptions, as half of what it is fitted on is false.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.evaluation.curve import Curve, fit_curve
from clausal.evaluation.labelled import Labels, label_facts
from clausal.evaluation.platt import Values, best_threshold, fit_platt, sigmoid
from clausal.evaluation.protocol import Ranker, score_facts
from clausal.graph.graph import Graph
from clausal.graph.vocabulary import Names

LEAST = 20
"""A graph with fewer valid facts has no calibration."""
ENOUGH = 10
"""A relation with so many valid facts has a fit of its own."""


class Fit(NamedTuple):
    """σ(slope · score + intercept), the score from which a fact is taken for true, and on how many facts they rest."""

    slope: float
    intercept: float
    threshold: float
    facts: int


@dataclass(frozen=True, eq=False)
class Calibration:
    """A fit for all facts, one for each relation, by its id, that has enough valid facts, and a curve on top."""

    overall: Fit
    relations: Mapping[int, Fit]
    curve: Curve | None = None

    def probabilities(self, scores: Values, relations: NDArray[np.integer]) -> Values:
        """Return the probability that each fact is true, given its score and its relation's id."""
        slopes, intercepts, _, _ = self._of(relations).T
        probabilities = sigmoid(slopes * scores + intercepts)
        return probabilities if self.curve is None else self.curve(probabilities)

    def taken_for_true(self, scores: Values, relations: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Say of each fact whether its score reaches the threshold of its relation."""
        return np.asarray(scores >= self._of(relations)[:, 2])

    def _of(self, relations: NDArray[np.integer]) -> Values:
        """Return the fit of each fact's relation. Shape [facts, 4]."""
        distinct, places = np.unique(relations, return_inverse=True)
        fits = [self.relations.get(relation, self.overall) for relation in distinct.tolist()]
        return np.array(fits, dtype=np.float64).reshape(-1, 4)[places.reshape(-1)]

    def to_dict(self, names: Names) -> dict[str, Any]:
        """Return what ``calibration.json`` holds, relations by name."""
        return {
            **self.overall._asdict(),
            "relations": {names[id]: fit._asdict() for id, fit in self.relations.items()},
            "curve": [list(point) for point in zip(*self.curve, strict=True)] if self.curve else None,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], names: Names) -> Calibration:
        """Read what ``to_dict`` returned; raises ValueError where it is something else."""
        if set(values) != {*Fit._fields, "relations", "curve"} or not isinstance(values["relations"], dict):
            raise ValueError(f"expected {', '.join(Fit._fields)}, relations and curve")
        unknown = [name for name in values["relations"] if name not in names]
        if unknown:
            raise ValueError(f"unknown relation '{unknown[0]}'")
        relations = {names.id(name): _read_fit(fit) for name, fit in values["relations"].items()}
        overall = _read_fit({name: values[name] for name in Fit._fields})
        return cls(overall, relations, None if values["curve"] is None else _read_curve(values["curve"]))


def calibrate(predictor: Ranker, graph: Graph, *, corruptions: int = 1, seed: int = 0) -> Calibration | None:
    """Fit probabilities and thresholds on the valid facts and random corruptions of them.

    None where the graph has too few valid facts, or where a score is beyond all numbers.
    """
    if len(graph.valid) < LEAST:
        return None
    facts, labels = label_facts(graph.valid, graph, corruptions=corruptions, seed=seed)
    scores = score_facts(predictor, facts)
    if not np.isfinite(scores).all():
        return None
    fits = {}
    counts = np.bincount(graph.valid[:, 1], minlength=len(graph.relations))
    by_relation = np.argsort(facts[:, 1], kind="stable")
    starts = np.searchsorted(facts[by_relation, 1], np.arange(len(graph.relations) + 1))
    for relation in np.flatnonzero(counts >= ENOUGH).tolist():
        rows = by_relation[starts[relation] : starts[relation + 1]]
        fit = _fit(labels[rows], scores[rows])
        if fit.slope > 0:  # a probability that falls as the score rises would be the noise of few facts
            fits[relation] = fit
    sigmoids = Calibration(_fit(labels, scores), fits)
    return replace(sigmoids, curve=fit_curve(labels, sigmoids.probabilities(scores, facts[:, 1])))


def _fit(labels: Labels, scores: Values) -> Fit:
    return Fit(*fit_platt(labels, scores), best_threshold(labels, scores), len(labels))


def _read_fit(values: Any) -> Fit:
    if not isinstance(values, dict) or set(values) != set(Fit._fields):
        raise ValueError(f"expected {', '.join(Fit._fields)}")
    if not all(map(_is_number, values.values())):
        raise ValueError(f"{', '.join(Fit._fields)} must be numbers")
    return Fit(**values)


def _read_curve(values: Any) -> Curve:
    pairs = isinstance(values, list) and all(isinstance(point, list) and len(point) == 2 for point in values)
    if not pairs or not values or not all(_is_number(one) and 0 <= one <= 1 for point in values for one in point):
        raise ValueError("the curve must be pairs of probabilities")
    start, end = zip(*values, strict=True)
    if any(np.diff(start) <= 0) or any(np.diff(end) < 0):
        raise ValueError("the curve must rise")
    return Curve(start, end)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
