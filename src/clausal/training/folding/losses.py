"""J_F of facts about what moves, as the run was trained: against corruptions, or against all entities by a sample."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from clausal.config import FactSettings, Settings
from clausal.model.predictor import Negatives
from clausal.training.folding.nearby import Nearby
from clausal.training.losses import LOSSES
from clausal.training.regularisers import penalty_of_facts

_MOST_NEGATIVES = 8


@dataclass(frozen=True, eq=False)
class FactsNearby:
    """The loss of a batch of facts, of other facts into which moving entities do not belong, and of withdrawn ones."""

    nearby: Nearby
    settings: Settings
    generator: torch.Generator

    def own(self, facts: Tensor) -> Tensor:
        """Return the loss of facts [b, 3], which hold moving entities, with the penalty on their vectors."""
        about, predictor = self.settings.facts, self.nearby.predictor
        loss = self._against_corruptions(facts) if about.training == "corruption" else self._against_all(facts)
        weight = about.regulariser_weight
        return loss + weight * penalty_of_facts(about.regulariser, predictor, facts)

    def false(self, facts: Tensor, entities: Tensor) -> Tensor:
        """Return the loss of facts [b, 3] with entities [b] in the place of the subject, and in that of the object."""
        about, predictor = self.settings.facts, self.nearby.predictor
        positive, negative = predictor.score_corrupted(facts, Negatives(entities[None], entities[None]))
        if about.training == "corruption":
            return LOSSES[about.loss](about.margin)(positive.detach(), negative)
        if about.loss == "logistic":
            return F.softplus(negative).sum() / (self.nearby.scale * len(self.nearby.sample))
        # An entity that is no answer has a share of the softmax: what its query's other candidates leave it.
        with torch.no_grad():
            others = self._logsumexp(facts)
        return F.softplus(negative.view(2, -1) - others).sum()

    def withdrawn(self, facts: Tensor) -> Tensor:
        """Return the loss of facts [b, 3] that hold no longer."""
        scores = self.nearby.predictor.score(facts[:, 0], facts[:, 1], facts[:, 2])
        margin = self.settings.facts.margin if self.settings.facts.loss in ("hinge", "pairwise") else None
        return F.softplus(scores).sum() if margin is None else torch.relu(margin + scores).sum()

    def _against_corruptions(self, facts: Tensor) -> Tensor:
        about = self.settings.facts
        count = min(about.negatives, _MOST_NEGATIVES)
        drawn = self._draw((2 * count, len(facts)))
        positive, negative = self.nearby.predictor.score_corrupted(facts, Negatives(*drawn.chunk(2)))
        return LOSSES[about.loss](about.margin)(positive, negative)

    def _against_all(self, facts: Tensor) -> Tensor:
        about = self.settings.facts
        both = self._of_answers(facts)
        if about.loss == "logistic":
            everyone = self.nearby.scale * len(self.nearby.sample)
            sums = torch.stack([F.softplus(scores).sum(1) for scores in self._of_sample(facts)])
            return (self.nearby.scale * sums - (1 - about.label_smoothing) * both).sum() / everyone
        return F.softplus(self._logsumexp(facts) - both).sum() + _smoothing(about, both, self._of_sample(facts))

    def _of_answers(self, facts: Tensor) -> Tensor:
        """Return the scores of facts as answers for the subject and for the object [2, b]."""
        nobody = torch.empty(0, len(facts), dtype=torch.int64, device=facts.device)
        positive, _ = self.nearby.predictor.score_corrupted(facts, Negatives(nobody, nobody))
        return positive.reshape(-1, len(facts)).expand(2, -1)

    def _of_sample(self, facts: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores of the sample as answers for the subject, and for the object, of facts [b, sample]."""
        predictor, sample = self.nearby.predictor, self.nearby.sample
        known, candidates = predictor.encode(facts[:, [0, 2]]), predictor.encode(sample)
        forward, backward = predictor.relation(facts[:, 1]), predictor.relation(predictor.inverse(facts[:, 1]))
        objects = predictor.scorer.score_objects(known[:, 0], forward, candidates)
        if predictor.rows_per_relation == 2:  # (?, r, o) is read from object to subject
            return predictor.scorer.score_objects(known[:, 1], backward, candidates), objects
        return predictor.scorer.score_subjects(candidates, forward, known[:, 1]), objects

    def _logsumexp(self, facts: Tensor) -> Tensor:
        """Return log Σ exp(score) over all entities that do not move, for both questions of facts [2, b]."""
        return torch.stack([scores.logsumexp(1) for scores in self._of_sample(facts)]) + math.log(self.nearby.scale)

    def _draw(self, shape: tuple[int, ...]) -> Tensor:
        sample = self.nearby.sample
        drawn = torch.randint(len(sample), shape, generator=self.generator)
        return sample[drawn.to(sample.device)]


def _smoothing(about: FactSettings, answers: Tensor, others: tuple[Tensor, Tensor]) -> Tensor:
    """Return what label smoothing adds to the cross-entropy: a share of the truth is spread over all."""
    if not about.label_smoothing:
        return answers.new_zeros(())
    means = torch.stack([scores.mean(1) for scores in others])
    return about.label_smoothing * (answers - means).sum()
