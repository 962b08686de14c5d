"""The adversary that settings name, and the clauses that it treats."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from clausal.adversary.adversary import Adversary
from clausal.adversary.ascent import GradientAscent, RealEntities
from clausal.adversary.clauses import ClauseGroup, group_clauses
from clausal.adversary.closed_form import ClosedForm, without_closed_form
from clausal.adversary.grounded import GroundedClauses
from clausal.adversary.reciprocal import readings_of
from clausal.adversary.semantics import make_semantics
from clausal.config import ClauseSettings
from clausal.errors import InputError
from clausal.graph.vocabulary import Names
from clausal.logic.syntax import Clause
from clausal.model.predictor import LinkPredictor

_FALLBACKS = {
    "gradient": "gradient ascent treats them instead (clauses.fallback)",
    "skip": "they are left out (clauses.fallback)",
}


def make_adversary(settings: ClauseSettings, facts: Tensor) -> Adversary:
    """Make the adversary that the settings name; it grounds clauses on train facts [facts, 3], or has their roles."""
    semantics = make_semantics(settings)
    if settings.adversary == "entities":
        return RealEntities(settings.sets, settings.pooling, semantics)
    if settings.adversary == "grounded":
        return GroundedClauses(facts, settings.sets, settings.pooling, semantics)
    ascent = GradientAscent(
        settings.sets,
        settings.steps,
        settings.learning_rate,
        settings.pooling,
        semantics,
        settings.region,
        facts,
        settings.optimizer,
    )
    if settings.adversary != "closed-form":
        return ascent
    return ClosedForm(ascent if settings.fallback == "gradient" else None, semantics, settings.region, facts)


def opening_adversary(settings: ClauseSettings, facts: Tensor) -> Adversary | None:
    """Make the adversary of the first epoch, which searches nothing where the discriminator moves first."""
    if settings.first == "adversary":
        return None
    return make_adversary(settings.model_copy(update={"steps": 0}), facts)


def make_groups(
    clauses: Sequence[Clause], entities: Names, relations: Names, predictor: LinkPredictor
) -> list[ClauseGroup]:
    """Gather clauses by shape, in both readings for a reciprocal model, on the predictor's device."""
    groups = readings_of(group_clauses(clauses, entities, relations), predictor)
    return [group.to(predictor.device) for group in groups]


def check_closed_forms(
    adversary: ClosedForm,
    predictor: LinkPredictor,
    groups: Sequence[ClauseGroup],
    settings: ClauseSettings,
    tell: Callable[[str], None],
) -> None:
    """Tell which clauses have no closed form, and what is done with them; refuse them if the settings say so."""
    others = without_closed_form(adversary, predictor, groups)
    if not others:
        return
    explanation = _explain(predictor, others)
    if settings.fallback == "error":
        raise InputError(f'{explanation}\nset clauses.fallback = "gradient" or "skip"')
    tell(f"{explanation}\n{_FALLBACKS[settings.fallback]}")


def _explain(predictor: LinkPredictor, clauses: Sequence[Clause], most: int = 5) -> str:
    scorer, domain = type(predictor.scorer).__name__, predictor.domain.name
    lines = [f"  {clause}" for clause in clauses[:most]]
    if len(clauses) > most:
        lines.append(f"  and {len(clauses) - most:,} more")
    count = f"{len(clauses):,} clause{'s' if len(clauses) > 1 else ''}"
    return "\n".join([f"no closed form for {count} with {scorer} on the domain '{domain}':", *lines])
