"""A fusion: the rules that vote, the weights that were fitted on valid, and how well they did there."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from clausal.evaluation.calibration import LEAST, Calibration, calibrate
from clausal.evaluation.protocol import Ranker
from clausal.evaluation.ranks import HITS
from clausal.fusion.evidence import BEST, FEATURES, FREQUENCY, LINKED, MODEL, SEEN, VOTES, Evidence, VotingRules
from clausal.fusion.fit import STRENGTHS, Fit, fit
from clausal.fusion.lists import Lists, Reals
from clausal.fusion.questions import collect_lists, model_scores
from clausal.fusion.ranker import Fused, RulesAlone
from clausal.graph.graph import Graph
from clausal.logic.mining import Edges, mine_attributes, mine_paths
from clausal.observer import Observer

Basis = Literal["fitted", "no gain", "default"]
"""Weights fitted on valid; those of the model alone, as votes gained nothing; or set, for want of valid facts."""

DEFAULT = {MODEL: 1.0, BEST[0]: 1.0, BEST[1]: 0.3, BEST[2]: 0.3, FREQUENCY: 0.1}
"""Weights where there is nothing to fit them on; scores of the model are first divided by their usual spread."""
_SPREAD = 2.0
_PATH_CONFIDENCE = 0.001
_CONFIDENCE = 0.01
"""Rules below it hardly say anything; they are left out where there are many."""
_MOST_CONSTANTS = 15_000_000
"""Where there are more rules with constants, those with little support do not vote."""
_MANY = 10_000
"""Where there are more rules of up to two atoms, those of three are not looked for, and weak ones are left out."""
_MOST_PATHS = 20_000
"""The most confident path rules that vote."""
_CALIBRATED = 5000
"""Valid facts that probabilities are fitted on; of more, as many are drawn."""


@dataclass(frozen=True, eq=False)
class Fusion:
    """Rules and weights: what is needed to rank by votes, and what is known of how well it does."""

    rules: VotingRules
    weights: Reals
    """[2 · relations, features]: for questions (s, r, ?), then for (?, r, o)."""
    basis: Basis
    signed: bool = False
    strength: float | None = None
    """How many questions the weights for all count as in those of a relation; None where all have the same."""
    valid: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Metrics of ``model`` and ``fused`` on valid, by cross-fitting."""
    gain: float = 0.0
    error: float = 0.0
    calibration: Calibration | None = None

    def evidence(self, graph: Graph) -> Evidence:
        """Return the rules with the facts of train that they vote by."""
        return Evidence(graph.train, len(graph.entities), len(graph.relations), self.rules)

    def ranker(self, predictor: Ranker, evidence: Evidence) -> Fused:
        """Return the model and the votes as one ranker."""
        return Fused(predictor, evidence, self.weights, signed=self.signed)


def mine_rules(
    graph: Graph, *, max_length: int = 3, seconds: float | None = None, observer: Observer | None = None
) -> VotingRules:
    """Mine the rules that vote from train: paths of up to three atoms, and rules with constants.

    Rules of three atoms are left out where there are very many of two: in dense graphs every path leads everywhere.
    Two thirds of the ``seconds`` are for paths.
    """
    edges = Edges(graph.train, len(graph.entities), len(graph.relations))
    for_paths, for_others = (None, None) if seconds is None else (seconds * 2 / 3, seconds / 3)
    started = time.monotonic()
    paths = mine_paths(
        edges, max_length=min(2, max_length), min_confidence=_PATH_CONFIDENCE, seconds=for_paths, observer=observer
    )
    if max_length > 2 and paths.complete and len(paths) <= _MANY:
        left = None if for_paths is None else max(0.0, for_paths - (time.monotonic() - started))
        paths = mine_paths(
            edges, max_length=max_length, min_confidence=_PATH_CONFIDENCE, seconds=left, observer=observer
        )
    if len(paths) > _MANY:
        paths = paths.select(paths.confidence >= _CONFIDENCE)
        paths = paths.select(np.arange(min(len(paths), _MOST_PATHS)))
    attributes = mine_attributes(edges, min_confidence=_CONFIDENCE, seconds=for_others, observer=observer)
    attributes = attributes.select(attributes.says_more_alone)
    least = 2
    while len(attributes) > _MOST_CONSTANTS:
        least += 1
        attributes = attributes.select(attributes.support >= least)
    return VotingRules(paths, attributes)


def used_features(signed: bool) -> tuple[str, ...]:
    """Return the features that a fusion weighs."""
    return (MODEL, *BEST, SEEN, FREQUENCY, *((LINKED,) if signed else ()))


def fuse(
    predictor: Ranker,
    graph: Graph,
    rules: VotingRules,
    *,
    signed: bool = False,
    features: tuple[str, ...] | None = None,
    strengths: tuple[float, ...] = STRENGTHS,
    lists: Lists | None = None,
    calibrated: bool = True,
    seed: int = 0,
    observer: Observer | None = None,
) -> Fusion:
    """Fit the weights of a fusion on the valid facts of a graph; test facts are not looked at.

    No vote counts against an answer unless ``signed``. With fewer than 20 valid facts the weights are set, not fitted;
    where votes gain nothing on valid beyond noise, by cross-fitting, they are 0. ``lists`` are those of
    ``collect_lists``, where they have been made already. Scores are ``calibrated`` too, which takes about as long.
    """
    evidence = Evidence(graph.train, len(graph.entities), len(graph.relations), rules)
    default = _default_weights(predictor, graph, seed)
    if len(graph.valid) < LEAST:
        return Fusion(rules, np.tile(default, (2 * len(graph.relations), 1)), "default", signed)
    if lists is None:
        known = np.concatenate([graph.train, graph.valid])
        lists = collect_lists(predictor, evidence, graph.valid, known, seed=seed, observer=observer)
    names = features or used_features(signed)
    columns = np.array([FEATURES.index(name) for name in names])
    least = np.array([0.0 if name == MODEL or (name in VOTES and not signed) else -np.inf for name in names])
    found = fit(
        lists.with_features(columns), default[columns], least, strengths=strengths, seed=seed, observer=observer
    )
    weights = np.zeros((lists.num_groups, len(FEATURES)))
    if found.gains:
        weights[:, columns] = found.weights
    else:
        weights[:, 0] = 1.0
    fusion = Fusion(
        rules,
        weights,
        "fitted" if found.gains else "no gain",
        signed,
        found.strength if np.isfinite(found.strength) else None,
        _valid_metrics(found),
        found.gain,
        found.error,
    )
    return replace(fusion, calibration=_calibrate(fusion, predictor, graph, evidence, seed)) if calibrated else fusion


def _valid_metrics(found: Fit) -> dict[str, dict[str, float]]:
    ranks = {"model": found.model_ranks, "fused": found.ranks}
    return {
        name: {"mrr": float(np.mean(1 / own)), **{f"hits@{k}": float(np.mean(own <= k)) for k in HITS}}
        for name, own in ranks.items()
    }


def _default_weights(predictor: Ranker, graph: Graph, seed: int) -> Reals:
    weights = np.array([DEFAULT.get(name, 0.0) for name in FEATURES])
    rng = np.random.default_rng(seed)
    if len(graph.train):
        facts = graph.train[rng.integers(len(graph.train), size=64)].astype(np.int64)
        spread = float(model_scores(predictor, facts[:, 0], facts[:, 1]).double().std(dim=1).mean())
        weights[0] = _SPREAD / spread if np.isfinite(spread) and spread > 0 else 1.0
    return weights


def _calibrate(fusion: Fusion, predictor: Ranker, graph: Graph, evidence: Evidence, seed: int) -> Calibration | None:
    valid: Any = graph.valid
    if len(valid) > _CALIBRATED:
        valid = valid[np.sort(np.random.default_rng(seed).choice(len(valid), _CALIBRATED, replace=False))]
    return calibrate(fusion.ranker(predictor, evidence), replace(graph, valid=valid, notes=()), seed=seed)


__all__ = ["DEFAULT", "Fusion", "RulesAlone", "fuse", "mine_rules", "used_features"]
