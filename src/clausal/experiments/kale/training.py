"""From a graph and clauses to KALE's link predictor, the one that was best on valid."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch

from clausal.evaluation import evaluate
from clausal.experiments.kale.groundings import ground_rules
from clausal.experiments.kale.passes import KalePass
from clausal.experiments.kale.recorded import RecordedPass
from clausal.experiments.kale.settings import KaleSettings
from clausal.graph import Facts, Graph
from clausal.logic import Clause
from clausal.model import LinkPredictor, Sphere, Table
from clausal.model.scorers import TransE
from clausal.training.randomness import generator_at
from clausal.training.train import find_device

_INITIALISATION, _PASSES = 0, 1  # streams of random numbers


class KaleReport(NamedTuple):
    """A pass that was made: its number from 1, the loss summed over it, and MRR on valid where it was validated."""

    number: int
    loss: float
    valid: float | None


def train_kale(
    graph: Graph,
    clauses: Iterable[Clause] = (),
    settings: KaleSettings | None = None,
    *,
    closure: Facts | None = None,
    validate_every: int = 50,
    on_pass: Callable[[KaleReport], None] | None = None,
) -> LinkPredictor:
    """Train TransE, KALE-Pre or KALE-Joint, and return the model of the validated pass with the best filtered MRR.

    Training on the closure computes it, which needs DuckDB, unless ``closure`` gives its facts. Without valid facts,
    or with ``validate_every=0``, the last pass's model is returned.
    """
    settings, clauses = settings or KaleSettings(), list(clauses)
    facts = graph.train if settings.on == "train" else _closure(graph, clauses) if closure is None else closure
    rules = ground_rules(graph, clauses, settings.observed) if settings.rule_weight else []
    predictor = make_predictor(graph, settings)
    one_pass = KalePass(predictor, facts, rules, settings)
    make_pass = RecordedPass(one_pass) if predictor.device.type == "cuda" else one_pass
    generator = generator_at(settings.seed, _PASSES, device=predictor.device)
    best, best_state = -1.0, None
    for number in range(1, settings.passes + 1):
        loss, valid = make_pass(generator), None
        due = validate_every and (number % validate_every == 0 or number == settings.passes)
        if due and len(graph.valid):
            valid = evaluate(predictor, graph, split="valid").filtered["both"]["mrr"]
            if valid > best:
                best, best_state = valid, {name: value.clone() for name, value in predictor.state_dict().items()}
        if on_pass is not None:
            on_pass(KaleReport(number, loss.item(), valid))
    if best_state is not None:
        predictor.load_state_dict(best_state)
    return predictor


def make_predictor(graph: Graph, settings: KaleSettings) -> LinkPredictor:
    """Make TransE in L1, whose scores are KALE's truth values but for scale and origin, with unit vectors throughout."""
    sizes = {"num_entities": len(graph.entities), "num_relations": len(graph.relations)}
    encoder = Table(sizes["num_entities"], settings.dim)
    predictor = LinkPredictor(encoder, TransE(settings.dim), domain=Sphere(), **sizes)
    predictor.reset_parameters(generator_at(settings.seed, _INITIALISATION))
    Sphere().project_(predictor.relations.data)
    return predictor.to(find_device(settings.device)).requires_grad_(False)


def _closure(graph: Graph, clauses: list[Clause]) -> Facts:
    from clausal.logic.closure import close

    return close(graph, clauses).facts
