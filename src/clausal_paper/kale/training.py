"""From a graph and clauses to KALE's link predictor, the one that was best on valid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from torch import Tensor

from clausal.evaluation import evaluate
from clausal.fast import Recording
from clausal.graph import Facts, Graph
from clausal.logic import Clause, close
from clausal.model import LinkPredictor, Sphere, Table, TransE, find_device, generator_at
from clausal_paper.kale.groundings import GroundRules, ground_rules
from clausal_paper.kale.passes import KalePass
from clausal_paper.kale.settings import KaleSettings

_INITIALISATION, _PASSES = 0, 1  # streams of random numbers


class KaleReport(NamedTuple):
    """A pass that was made: its number from 1, the loss summed over it, and MRR on valid where it was validated."""

    number: int
    loss: float
    valid: float | None


class KaleTraining:
    """A training in progress: a link predictor, passes over its facts and ground rules, and the best model so far."""

    def __init__(self, graph: Graph, facts: Facts, rules: Sequence[GroundRules], settings: KaleSettings) -> None:
        self.graph = graph
        self.predictor = make_predictor(graph, settings)
        generator = generator_at(settings.seed, _PASSES, device=self.predictor.device)
        one_pass = KalePass(self.predictor, facts, rules, settings)

        def work() -> tuple[Tensor]:
            return (one_pass(generator),)

        self._pass = Recording(work, generator) if self.predictor.device.type == "cuda" else work
        self.passes = 0
        self.best: tuple[float, int] | None = None
        """The best filtered MRR on valid, and the pass after which it was."""
        self._best_state: dict[str, Tensor] = {}

    def advance(self) -> Tensor:
        """Make a pass and return its loss, without waiting for it on a GPU."""
        self.passes += 1
        (loss,) = self._pass()
        return loss

    def validate(self) -> float:
        """Return the filtered MRR on valid, and keep the model if it is the best so far."""
        mrr = evaluate(self.predictor, self.graph, split="valid").filtered["both"]["mrr"]
        if self.best is None or mrr > self.best[0]:
            self.best = mrr, self.passes
            self._best_state = {name: value.clone() for name, value in self.predictor.state_dict().items()}
        return mrr

    def finish(self) -> LinkPredictor:
        """Return the best model, or the last where none was validated."""
        if self._best_state:
            self.predictor.load_state_dict(self._best_state)
        return self.predictor


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

    Without valid facts, or with ``validate_every=0``, the last pass's model is returned.
    """
    settings = settings or KaleSettings()
    training = run_kale(graph, clauses, settings, closure=closure, validate_every=validate_every, on_pass=on_pass)
    return training.finish()


def run_kale(
    graph: Graph,
    clauses: Iterable[Clause],
    settings: KaleSettings,
    *,
    closure: Facts | None = None,
    validate_every: int = 50,
    on_pass: Callable[[KaleReport], None] | None = None,
) -> KaleTraining:
    """Make all passes of a training, which is left with the model of the last one.

    Training on the closure computes it, which needs DuckDB, unless ``closure`` gives its facts.
    """
    training = prepare_kale(graph, clauses, settings, closure=closure)
    for number in range(1, settings.passes + 1):
        loss = training.advance()
        due = validate_every and (number % validate_every == 0 or number == settings.passes)
        valid = training.validate() if due and len(graph.valid) else None
        if on_pass is not None:
            on_pass(KaleReport(number, loss.item(), valid))
    return training


def prepare_kale(
    graph: Graph, clauses: Iterable[Clause], settings: KaleSettings, *, closure: Facts | None = None
) -> KaleTraining:
    """Set up a training: its facts, its ground rules where they have a weight, and a model at random."""
    clauses = list(clauses)
    facts = graph.train
    if settings.on == "closure":
        facts = close(graph, clauses).facts if closure is None else closure
    rules = ground_rules(graph, clauses, settings.observed) if settings.rule_weight else []
    return KaleTraining(graph, facts, rules, settings)


def make_predictor(graph: Graph, settings: KaleSettings) -> LinkPredictor:
    """Make TransE in L1, whose scores are KALE's truth values but for scale and origin, with unit vectors."""
    sizes = {"num_entities": len(graph.entities), "num_relations": len(graph.relations)}
    encoder = Table(sizes["num_entities"], settings.dim)
    predictor = LinkPredictor(encoder, TransE(settings.dim), domain=Sphere(), **sizes)
    predictor.reset_parameters(generator_at(settings.seed, _INITIALISATION))
    Sphere().project_(predictor.relations.data)
    return predictor.to(find_device(settings.device)).requires_grad_(False)
