"""Vectors of new entities, and of known ones around them, by a few passes of AdaGrad in the model's domain.

Relations and all other entities stay as they are, and what moves stays inside the region of certificates. So whatever a
certificate says of the model still holds.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.config import Settings
from clausal.errors import InputError
from clausal.model.predictor import LinkPredictor
from clausal.observer import Observer
from clausal.training.folding.limits import Limits
from clausal.training.folding.losses import FactsNearby
from clausal.training.folding.nearby import Nearby
from clausal.training.folding.start import start_vectors

PASSES = 15
"""Passes over the facts of new entities."""
REFINE = 30
"""Passes over the facts of all that changed, which move what was there before."""
_BATCHES = 10
"""Batches in a pass over known facts, as a training has them."""
_RATE = 0.5
"""The first step of AdaGrad in a component, as a share of the root mean square of a component."""
_SAMPLE = 2048
"""Entities that stand for all others."""
_MOST_FALSE = 4
"""Most facts that a moving entity is put into, where it does not belong, in a pass; each counts for several then."""
_NUMBERS_AT_ONCE = 1 << 20


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
    about = facts[(facts[:, [0, 2]] >= predictor.num_entities).any(1)]
    start = start_vectors(predictor, train, about, count, settings.train.seed)
    descent = _Descent(predictor, new, start, about, train, settings)
    return descent.run(passes, 1, observer or Observer(), "folding in")


@torch.no_grad()
def refine(
    predictor: LinkPredictor,
    train: Tensor,
    moving: Tensor,
    settings: Settings,
    *,
    passes: int,
    withdrawn: Tensor | None = None,
    limits: Limits | None = None,
    observer: Observer | None = None,
) -> Tensor:
    """Return new vectors [moving, dim] of known entities, given by sorted ids, after passes over their train facts.

    Facts ``withdrawn`` [facts, 3] are trained to be false. ``limits`` are those of another model, to be kept to.
    """
    require_foldable(predictor)
    train = train.to(predictor.device).long()
    about = train[torch.isin(train[:, [0, 2]], moving).any(1)]
    start = predictor.encode(moving).detach()
    descent = _Descent(predictor, moving, start, about, train, settings, withdrawn, limits)
    return descent.run(passes, _BATCHES, observer or Observer(), "refining")


def require_foldable(predictor: LinkPredictor) -> None:
    """Refuse a model that has no vectors of entities."""
    if predictor.of_pairs:
        raise InputError(
            f"{predictor.scorer.name} has vectors of entity pairs, so that a new entity has none to solve for; "
            "train on the new graph instead"
        )


class _Descent:
    """Moves the vectors of some entities down the loss of their facts."""

    def __init__(
        self,
        predictor: LinkPredictor,
        moving: Tensor,
        vectors: Tensor,
        facts: Tensor,
        train: Tensor,
        settings: Settings,
        withdrawn: Tensor | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits.of(predictor)
        self.generator = torch.Generator().manual_seed(settings.train.seed)
        often = settings.facts.negatives * len(train) / max(1, predictor.num_entities)
        self.each = max(1, min(_MOST_FALSE, round(often)))
        drawn = torch.randint(max(1, len(train)), (_SAMPLE,), generator=self.generator)
        background = train[drawn.to(train.device)] if len(train) else train
        gone = facts[:0] if withdrawn is None else withdrawn.to(facts.device).long()
        needed = torch.cat([part[:, [0, 2]].flatten() for part in (facts, background, gone)])
        self.nearby = Nearby.of(predictor, moving, vectors, needed, _SAMPLE, self.generator)
        self.facts = self.nearby.facts(facts)
        background, gone = self.nearby.facts(background), self.nearby.facts(gone)
        self.loss = FactsNearby(self.nearby, settings, self.generator, background, gone, max(1.0, often / self.each))
        self.at_once = _facts_at_once(predictor, settings)
        self.limits.project_(self.nearby.vectors.data)
        rate = _RATE * float(self.nearby.sampled_vectors.square().mean().sqrt())
        self.optimizer = torch.optim.Adagrad([self.nearby.vectors], lr=rate, initial_accumulator_value=1e-8)

    def run(self, passes: int, batches: int, observer: Observer, doing: str) -> Tensor:
        """Go through the facts so often, each time in so many batches, and return the vectors."""
        for number in range(passes if len(self.facts) else 0):
            own = self._shuffled(self.facts).tensor_split(batches)
            others = self._shuffled(self.nearby.moving_ids.repeat(self.each)).tensor_split(batches)
            for some_facts, some_entities in zip(own, others, strict=True):
                self._step(some_facts, some_entities)
            observer.advanced(doing, number + 1, passes, "passes")
        return self.nearby.vectors.detach()

    def _shuffled(self, rows: Tensor) -> Tensor:
        return rows[torch.randperm(len(rows), generator=self.generator).to(rows.device)]

    def _step(self, facts: Tensor, entities: Tensor) -> None:
        self.optimizer.zero_grad(set_to_none=False)
        with torch.enable_grad():
            for some in facts.split(self.at_once):
                self.nearby.backward(self.loss.own(some))
            for some in entities.split(self.at_once):
                self.nearby.backward(self.loss.out_of_place(some))
            if len(self.loss.gone):
                self.nearby.backward(self.loss.withdrawn())
        self.optimizer.step()
        self.limits.project_(self.nearby.vectors.data)


def _facts_at_once(predictor: LinkPredictor, settings: Settings) -> int:
    against_all = settings.facts.training != "corruption"
    each = 2 * _SAMPLE if against_all else 2 * (1 + settings.facts.negatives) * predictor.scorer.dim
    return max(1, _NUMBERS_AT_ONCE // each)
