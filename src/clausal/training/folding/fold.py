"""Vectors of new entities, and of what changed around them, by a few steps of AdaGrad in the model's domain.

Relations and all other entities stay as they are, so that whatever a certificate says over the domain still holds.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.config import Settings
from clausal.errors import InputError
from clausal.model.predictor import LinkPredictor
from clausal.observer import Observer
from clausal.training.folding.losses import FactsNearby
from clausal.training.folding.nearby import Nearby
from clausal.training.folding.start import start_vectors

PASSES = 30
"""Passes over the facts of new entities."""
_RATE = 0.3
"""The first step of AdaGrad in a component, as a share of the root mean square of a component."""
_SAMPLE = 2048
"""Entities that stand for all others."""
_MOST_FALSE = 32
"""Most facts that a moving entity is put into, where it does not belong, in a pass."""
_NUMBERS_AT_ONCE = 1 << 25


@torch.no_grad()
def fold_in(
    predictor: LinkPredictor,
    train: Tensor,
    facts: Tensor,
    count: int,
    settings: Settings,
    *,
    passes: int = PASSES,
    observer: Observer | None = None,
) -> Tensor:
    """Return vectors [count, dim], in the domain, of new entities whose ids follow those that the predictor knows.

    ``facts`` [facts, 3] are about them; ``train`` [facts, 3] are those that the predictor was trained on. Entities that
    are linked to each other are solved for together.
    """
    require_foldable(predictor)
    train, facts = (part.to(predictor.device).long() for part in (train, facts))
    new = torch.arange(count, device=predictor.device) + predictor.num_entities
    start = start_vectors(predictor, train, facts, count, settings.train.seed)
    about = facts[(facts[:, [0, 2]] >= predictor.num_entities).any(1)]
    return _descend(predictor, new, start, about, train, settings, passes, observer or Observer(), "folding in")


@torch.no_grad()
def refine(
    predictor: LinkPredictor,
    moving: Tensor,
    train: Tensor,
    settings: Settings,
    *,
    passes: int,
    withdrawn: Tensor | None = None,
    observer: Observer | None = None,
) -> Tensor:
    """Return new vectors [moving, dim] of known entities, given by sorted ids, after passes over their train facts.

    Facts ``withdrawn`` [facts, 3] are trained to be false.
    """
    require_foldable(predictor)
    train = train.to(predictor.device).long()
    about = train[torch.isin(train[:, [0, 2]], moving).any(1)]
    start = predictor.encode(moving).detach()
    return _descend(
        predictor, moving, start, about, train, settings, passes, observer or Observer(), "refining", withdrawn
    )


def require_foldable(predictor: LinkPredictor) -> None:
    """Refuse a model that has no vectors of entities."""
    if predictor.of_pairs:
        raise InputError(
            f"{predictor.scorer.name} has vectors of entity pairs, so that a new entity has none to solve for; "
            "train on the new graph instead"
        )


def _descend(
    predictor: LinkPredictor,
    moving: Tensor,
    vectors: Tensor,
    facts: Tensor,
    train: Tensor,
    settings: Settings,
    passes: int,
    observer: Observer,
    doing: str,
    withdrawn: Tensor | None = None,
) -> Tensor:
    if not len(moving) or not len(facts) or not passes:
        return vectors
    generator = torch.Generator().manual_seed(settings.train.seed)
    each = _false_facts(predictor, train, settings)
    background = train[torch.randint(len(train), (each * _SAMPLE,), generator=generator).to(train.device)]
    gone = facts[:0] if withdrawn is None else withdrawn.to(facts.device).long()
    needed = torch.cat([part[:, [0, 2]].flatten() for part in (facts, background, gone)])
    nearby = Nearby.of(predictor, moving, vectors, needed, _SAMPLE, generator)
    facts, background, gone = (nearby.facts(part) for part in (facts, background, gone))
    loss = FactsNearby(nearby, settings, generator)
    rate = _RATE * float(predictor.encode(nearby.frozen[nearby.sample]).square().mean().sqrt())
    optimizer = torch.optim.Adagrad([nearby.vectors], lr=rate, initial_accumulator_value=1e-8)
    for number in range(passes):
        order = torch.randperm(len(facts), generator=generator).to(facts.device)
        optimizer.zero_grad()
        for batch in order.split(_facts_at_once(predictor, settings)):
            with torch.enable_grad():
                loss.own(facts[batch]).backward()
        drawn = torch.randint(len(background), (each * len(moving),), generator=generator).to(facts.device)
        entities = nearby.moving_ids.repeat(each)
        for some, put in zip(drawn.split(_facts_at_once(predictor, settings)), entities.split(_facts_at_once(predictor, settings)), strict=True):
            with torch.enable_grad():
                loss.false(background[some], put).backward()
        if len(gone):
            with torch.enable_grad():
                loss.withdrawn(gone).backward()
        optimizer.step()
        predictor.domain.project_(nearby.vectors.data)
        observer.advanced(doing, number + 1, passes, "passes")
    return nearby.vectors.detach()


def _false_facts(predictor: LinkPredictor, train: Tensor, settings: Settings) -> int:
    """Return into how many facts a pass of the training puts an entity, on average, where it does not belong."""
    often = settings.facts.negatives * len(train) / max(1, predictor.num_entities)
    return max(1, min(_MOST_FALSE, round(often)))


def _facts_at_once(predictor: LinkPredictor, settings: Settings) -> int:
    against_all = settings.facts.training != "corruption"
    each = 2 * _SAMPLE if against_all else 2 * (1 + settings.facts.negatives) * predictor.scorer.dim
    return max(1, _NUMBERS_AT_ONCE // each)
