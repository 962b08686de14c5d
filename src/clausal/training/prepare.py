"""From a graph, clauses and settings to a training that is ready to run; every mistake gets one message before it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn

from clausal.adversary.adversary import Adversary
from clausal.adversary.ascent import GradientAscent, ascend
from clausal.adversary.build import check_closed_forms, make_adversary, make_groups, opening_adversary
from clausal.adversary.certificates import default_tolerance
from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.closed_form import ClosedForm
from clausal.adversary.contracts import check_adversary
from clausal.adversary.forms import LINEAR
from clausal.adversary.hard import find_hard
from clausal.adversary.parts import count_clauses
from clausal.adversary.semantics import make_semantics
from clausal.config import FactSettings, Settings
from clausal.errors import InputError
from clausal.evaluation import evaluate
from clausal.evaluation.memory import give_back_memory
from clausal.fast import FormChoice, fastest, why_not
from clausal.graph.graph import Graph
from clausal.logic import check_clauses
from clausal.logic.syntax import Clause
from clausal.model.build import find_device, make_predictor
from clausal.model.contracts import ContractError, check_encoder, check_scorer
from clausal.model.describing import describe
from clausal.model.features import Features
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import MultilinearScorer, Scorer
from clausal.observer import Observer
from clausal.peers import ALONE, Peers
from clausal.training.algorithm import AdversarialSetTraining, Certify, Validate
from clausal.training.certified import CertifiedInconsistency
from clausal.training.step import Step
from clausal.training.warm_start import WarmStart


def check_arguments(
    graph: Graph,
    clauses: Sequence[Clause] | str,
    settings: Settings,
    scorer: Scorer | None = None,
    encoder: nn.Module | None = None,
    adversary: Adversary | None = None,
) -> None:
    """Check the kinds of the arguments, and that a user's own modules keep their contracts."""
    _require(graph, Graph, "graph", "use clausal.load_graph or Graph.from_triples")
    _require(settings, Settings, "settings", "use clausal.Settings.from_mapping or Settings.load")
    if isinstance(clauses, str):
        raise InputError("clauses: expected a list of clauses, got text; use clausal.parse_clauses or read_clauses")
    for clause in clauses:
        _require(clause, Clause, "clauses", "use clausal.parse_clauses or read_clauses")
    if not len(graph.train):
        raise InputError(f"{graph.name}: the train split is empty")
    if encoder is not None and settings.descriptions.given:
        raise InputError("encoder: an own encoder takes the place of descriptions; leave out one of them")
    if scorer is not None:
        _require(scorer, Scorer, "scorer", "derive it from clausal.model.Scorer")
        _check_facts(settings.facts, scorer)
    try:
        if scorer is not None:
            check_scorer(deepcopy(scorer).cpu())
        if encoder is not None:
            dim = scorer.dim if scorer is not None else settings.model.dim
            check_encoder(deepcopy(encoder).cpu(), len(graph.entities), dim)
        if adversary is not None:
            check_adversary(adversary)
    except ContractError as error:
        given = {"scorer": scorer, "encoder": encoder, "adversary": adversary}
        names = [name for name, module in given.items() if module is not None]
        raise InputError(f"{' or '.join(names)}: {error}") from None


def _check_facts(facts: FactSettings, scorer: Scorer) -> None:
    """Refuse what needs more of a user's own scorer than it has; settings know those that come with clausal."""
    name = type(scorer).__name__
    if facts.regulariser == "dura" and not isinstance(scorer, MultilinearScorer):
        raise InputError(f"facts.regulariser: dura is for a MultilinearScorer, which {name} is not; use none, f2 or n3")
    if facts.relation_weight and scorer.terms is None:
        raise InputError(f"facts.relation_weight: is for scorers with trilinear terms, which {name} lacks; set it to 0")


def _require(value: object, kind: type, name: str, hint: str) -> None:
    if not isinstance(value, kind):
        raise InputError(f"{name}: expected a {kind.__name__}, got {type(value).__name__}; {hint}")


def prepare(
    graph: Graph,
    clauses: Sequence[Clause] = (),
    settings: Settings | None = None,
    *,
    scorer: Scorer | None = None,
    encoder: nn.Module | None = None,
    adversary: Adversary | None = None,
    start: WarmStart | None = None,
    features: Sequence[Features] | None = None,
    peers: Peers = ALONE,
    by_rows: bool = False,
    observer: Observer | None = None,
) -> AdversarialSetTraining:
    """Check everything and set up a training, ready to run or to be restored.

    ``scorer``, ``encoder`` and ``adversary`` are a user's own, in place of those that the settings name; ``start`` is
    what another model knows already; ``features`` are those of described entities, made from the settings' files where
    they are not given; ``peers`` are the processes that train together; ``by_rows`` lets one process work on its
    table as these do; ``observer`` is given what a user should know about the clauses.
    """
    settings, observer = settings or Settings(), observer or Observer()
    check_arguments(graph, clauses, settings, scorer, encoder, adversary)
    check_clauses(clauses, graph.entities, graph.relations)
    device = find_device(settings.train.device)
    features = describe(graph, settings, observer) if features is None else features
    give_back_memory()
    predictor = make_predictor(
        graph, settings, scorer=scorer, encoder=encoder, features=features, peers=peers, by_rows=by_rows, device=device
    ).to(device)
    if start is not None:
        start.give(predictor, graph, settings, observer)
    if predictor.scorer.distance and settings.facts.loss not in ("pairwise", "softmax"):
        observer.message(
            f"note: scores of {settings.model.scorer if scorer is None else type(scorer).__name__} are never positive, "
            f"so facts cannot satisfy the {settings.facts.loss} loss; facts.loss = pairwise suits it"
        )
    facts = torch.from_numpy(graph.train).to(device)
    if settings.clauses.adversary == "none" and adversary is None:
        clauses = []
    choice = FormChoice("eager" if settings.train.step == "eager" else "auto")
    with choice.in_use():
        hard = find_hard(clauses, graph.entities, graph.relations, predictor, settings.clauses.hard)
    predictor.feasible = hard.feasible
    predictor.obey_()
    if hard.clauses or hard.refused:
        observer.message(hard.describe())
    kept = {id(clause) for clause in hard.clauses}
    soft = [clause for clause in clauses if id(clause) not in kept]
    groups = make_groups(soft, graph.entities, graph.relations, predictor)
    certified = make_groups(clauses, graph.entities, graph.relations, predictor) if kept else groups
    opening = None
    if adversary is None:
        adversary, opening = make_adversary(settings.clauses, facts), opening_adversary(settings.clauses, facts)
    if isinstance(adversary, ClosedForm):
        check_closed_forms(adversary, predictor, groups, settings.clauses, observer.message)
    training = AdversarialSetTraining(
        predictor,
        facts,
        groups,
        adversary,
        settings,
        make_validation(graph, settings),
        make_certification(facts, certified, settings),
        opening,
        choice,
    )
    _say_forms(training, observer)
    taken = training.objective.clauses
    if taken.sampled:
        some, count = count_clauses(taken.current.groups), count_clauses(taken.groups)
        observer.message(f"a step takes about {some:,} of the {count:,} clauses, drawn at random (clauses.per_step)")
    return training


def _say_forms(training: AdversarialSetTraining, observer: Observer) -> None:
    """Say in one line which fast forms stand in for the reference; refuse a fused step that cannot be had."""
    choice, objective, adversary = training.choice, training.objective, training.adversary
    reason = why_not(Step, objective, training.optimizer).get("step by kernels")
    if training.settings.train.step == "fused" and reason:
        raise InputError(f'train.step: "fused" cannot be used here: {reason}; use "auto"')
    if choice.kind == "eager":
        observer.message('plain PyTorch trains, as train.step is "eager"')
        return
    if isinstance(adversary, GradientAscent) and objective.groups:
        with choice.in_use():
            fastest(ascend, adversary, training.predictor, objective.groups, ())
    forms = list(dict.fromkeys(choice.taken.values()))
    expected = training.predictor.scorer.terms is not None and training.settings.facts.training == "corruption"
    if training.settings.descriptions.given:
        reason, expected = "entities are described", True
    eager = f"; the step is eager, as {reason}" if reason and expected else ""
    observer.message(f"fast forms: {', '.join(forms) or 'none'}{eager}")


def make_validation(graph: Graph, settings: Settings) -> Validate | None:
    """Return the validation of Algorithm 1's models: filtered ranking of the valid facts."""
    if not len(graph.valid) or not settings.evaluate.every:
        return None

    def validate(predictor: LinkPredictor) -> dict[str, float]:
        result = evaluate(predictor.with_table(), graph, split="valid", ties=settings.evaluate.ties)
        return dict(result.to_dict()["filtered"]["both"])

    return validate


def make_certification(facts: Tensor, groups: Sequence[ClauseGroup], settings: Settings) -> Certify | None:
    """Return what bounds the inconsistency while training; None where the semantics has no bounds."""
    semantics = make_semantics(settings.clauses)
    if not groups or not settings.clauses.weight or type(semantics) not in LINEAR:
        return None
    bounds = ClosedForm(None, semantics, settings.clauses.region, facts)
    return CertifiedInconsistency(
        bounds, [group.to(facts.device) for group in groups], default_tolerance(settings.facts.margin)
    )
