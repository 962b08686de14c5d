"""What a training is given from Python, checked before anything is built: each mistake gets one message.

From a graph, clauses and settings to a trained link predictor.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from copy import deepcopy

import torch
from torch import nn

from clausal.adversary import (
    Adversary,
    ClauseGroup,
    ClosedForm,
    GradientAscent,
    RealEntities,
    group_clauses,
    readings_of,
    without_closed_form,
)
from clausal.adversary.certificates import default_tolerance
from clausal.adversary.forms import LINEAR
from clausal.adversary.semantics import make_semantics
from clausal.config import ClauseSettings, FactSettings, Settings
from clausal.errors import InputError
from clausal.evaluation import evaluate
from clausal.fast.ascent import FusedAscent, can_fuse
from clausal.fast.closed_form import FusedClosedForm
from clausal.fast.recorded import RecordedAscent
from clausal.graph.graph import Graph
from clausal.logic import check_clauses
from clausal.logic.syntax import Clause
from clausal.model.build import find_device, make_predictor
from clausal.model.contracts import ContractError, check_encoder, check_scorer
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import MultilinearScorer, Scorer
from clausal.training.algorithm import AdversarialSetTraining, Certify, Validate
from clausal.training.certified import CertifiedInconsistency


def check_arguments(
    graph: Graph,
    clauses: Sequence[Clause] | str,
    settings: Settings,
    scorer: Scorer | None = None,
    encoder: nn.Module | None = None,
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
    if scorer is not None:
        _require(scorer, Scorer, "scorer", "derive it from clausal.model.Scorer")
        _check_facts(settings.facts, scorer)
    try:
        if scorer is not None:
            check_scorer(deepcopy(scorer).cpu())
        if encoder is not None:
            dim = scorer.dim if scorer is not None else settings.model.dim
            check_encoder(deepcopy(encoder).cpu(), len(graph.entities), dim)
    except ContractError as error:
        raise InputError(f"{'scorer' if encoder is None else 'scorer or encoder'}: {error}") from None


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


_LOG = logging.getLogger("clausal")
_FALLBACKS = {
    "gradient": "gradient ascent treats them instead (clauses.fallback)",
    "skip": "they are left out (clauses.fallback)",
}


def prepare(
    graph: Graph,
    clauses: Sequence[Clause] = (),
    settings: Settings | None = None,
    *,
    scorer: Scorer | None = None,
    encoder: nn.Module | None = None,
    tell: Callable[[str], None] = _LOG.info,
) -> AdversarialSetTraining:
    """Check everything and set up a training, ready to run or to be restored.

    ``scorer`` and ``encoder`` are a user's own modules, in place of those that the settings name; ``tell`` is
    given what a user should know about the clauses.
    """
    settings = settings or Settings()
    check_arguments(graph, clauses, settings, scorer, encoder)
    check_clauses(clauses, graph.entities, graph.relations)
    device = find_device(settings.train.device)
    predictor = make_predictor(graph, settings, scorer=scorer, encoder=encoder).to(device)
    if predictor.scorer.distance and settings.facts.loss not in ("pairwise", "softmax"):
        tell(
            f"note: scores of {settings.model.scorer if scorer is None else type(scorer).__name__} are never positive, "
            f"so facts cannot satisfy the {settings.facts.loss} loss; facts.loss = pairwise suits it"
        )
    adversary, groups = make_adversary(graph, clauses, settings.clauses, predictor, tell, settings.train.step)
    validate, certify = make_validation(graph, settings), make_certification(graph, groups, settings, device)
    return AdversarialSetTraining(predictor, graph, groups, adversary, settings, validate, certify, tell)


def make_adversary(
    graph: Graph,
    clauses: Sequence[Clause],
    settings: ClauseSettings,
    predictor: LinkPredictor,
    tell: Callable[[str], None],
    step: str = "auto",
) -> tuple[Adversary, list[ClauseGroup]]:
    """Make the adversary that the settings name, and the clauses it will treat, by shape.

    It is as fast as the form of the step allows: what is eager or compiled is made of torch's operations.
    """
    semantics = make_semantics(settings)
    facts = torch.from_numpy(graph.train).to(predictor.device)
    ascent = settings.sets, settings.steps, settings.learning_rate, settings.pooling
    fused = step in ("auto", "fused") and can_fuse(predictor)
    kind = RecordedAscent if predictor.device.type == "cuda" else FusedAscent if fused else GradientAscent
    gradient = kind(*ascent, semantics, settings.region, facts)
    groups = readings_of(group_clauses(clauses, graph.entities, graph.relations), predictor)
    if settings.adversary == "none":
        return gradient, []
    if settings.adversary == "entities":
        return RealEntities(settings.sets, settings.pooling, semantics), groups
    if settings.adversary == "gradient":
        return gradient, groups
    fallback = gradient if settings.fallback == "gradient" else None
    adversary = (FusedClosedForm if fused else ClosedForm)(fallback, semantics, settings.region, facts)
    groups = [group.to(predictor.device) for group in groups]
    others = without_closed_form(adversary, predictor, groups)
    explanation = _explain_without_closed_form(predictor, others)
    if others and settings.fallback == "error":
        raise InputError(f'{explanation}\nset clauses.fallback = "gradient" or "skip"')
    if others:
        tell(f"{explanation}\n{_FALLBACKS[settings.fallback]}")
    return adversary, groups


def _explain_without_closed_form(predictor: LinkPredictor, clauses: Sequence[Clause], most: int = 5) -> str:
    """Say which clauses have no closed form under this scorer and domain."""
    scorer, domain = type(predictor.scorer).__name__, predictor.domain.name
    lines = [f"  {clause}" for clause in clauses[:most]]
    if len(clauses) > most:
        lines.append(f"  and {len(clauses) - most:,} more")
    count = f"{len(clauses):,} clause{'s' if len(clauses) > 1 else ''}"
    return "\n".join([f"no closed form for {count} with {scorer} on the domain '{domain}':", *lines])


def make_validation(graph: Graph, settings: Settings) -> Validate | None:
    """Return the validation of Algorithm 1's models: filtered ranking of the valid facts."""
    if not len(graph.valid) or not settings.evaluate.every:
        return None

    def validate(predictor: LinkPredictor) -> dict[str, float]:
        result = evaluate(predictor.tabulated(), graph, split="valid", ties=settings.evaluate.ties)
        return dict(result.to_dict()["filtered"]["both"])

    return validate


def make_certification(
    graph: Graph, groups: Sequence[ClauseGroup], settings: Settings, device: torch.device
) -> Certify | None:
    """Return what bounds the inconsistency while training; None where the semantics has no bounds."""
    semantics = make_semantics(settings.clauses)
    if not groups or not settings.clauses.weight or type(semantics) not in LINEAR:
        return None
    bounds = ClosedForm(None, semantics, settings.clauses.region, torch.from_numpy(graph.train).to(device))
    return CertifiedInconsistency(
        bounds, [group.to(device) for group in groups], default_tolerance(settings.facts.margin)
    )
