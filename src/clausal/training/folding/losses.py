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
    """Losses of what moves: of its facts, where it is put into other facts, and of facts that hold no longer."""

    nearby: Nearby
    settings: Settings
    generator: torch.Generator
    background: Tensor  # [facts, 3], train facts at random
    gone: Tensor  # [facts, 3]
    share: float = 1.0
    """How often a training puts an entity where it does not belong, for each time that it is done here."""

    def own(self, facts: Tensor) -> Tensor:
        """Return the loss of facts [b, 3], which hold moving entities, with the penalty on their vectors."""
        about, predictor = self.settings.facts, self.nearby.predictor
        loss = self._against_corruptions(facts) if about.training == "corruption" else self._against_all(facts)
        return loss + about.regulariser_weight * penalty_of_facts(about.regulariser, predictor, facts)

    def out_of_place(self, entities: Tensor) -> Tensor:
        """Return the loss of entities [b] in the place of the subject, and of the object, of some train facts."""
        return self.share * self._out_of_place(entities)

    def _out_of_place(self, entities: Tensor) -> Tensor:
        about, predictor = self.settings.facts, self.nearby.predictor
        if not len(self.background):
            return self.nearby.vectors.sum() * 0
        facts = self.background[self._draw(len(self.background), (len(entities),))]
        positive, negative = predictor.score_corrupted(facts, Negatives(entities[None], entities[None]))
        if about.training == "corruption":
            return LOSSES[about.loss](about.margin)(positive.detach(), negative)
        if about.loss == "logistic":
            return F.softplus(negative).sum() / self.nearby.others
        # What is no answer has a share of the softmax all the same: what the query's other candidates leave it.
        with torch.no_grad():
            others = self._logsumexp(facts)
        return F.softplus(negative.reshape(2, -1) - others).sum()

    def withdrawn(self) -> Tensor:
        """Return the loss of the facts that hold no longer."""
        about = self.settings.facts
        scores = self.nearby.predictor.score(*self.gone.unbind(1))
        if about.loss in ("hinge", "pairwise"):
            return torch.relu(about.margin + scores).sum()
        return F.softplus(scores).sum()

    def _against_corruptions(self, facts: Tensor) -> Tensor:
        about = self.settings.facts
        count = min(about.negatives, _MOST_NEGATIVES)
        sample = self.nearby.sample
        drawn = sample[self._draw(len(sample), (2 * count, len(facts)))]
        positive, negative = self.nearby.predictor.score_corrupted(facts, Negatives(*drawn.chunk(2)))
        return LOSSES[about.loss](about.margin)(positive, negative)

    def _against_all(self, facts: Tensor) -> Tensor:
        about = self.settings.facts
        both = self._of_answers(facts)
        if about.loss == "logistic":
            sums = torch.stack([F.softplus(scores).sum(1) for scores in self._of_sample(facts)])
            return (self.nearby.scale * sums - (1 - about.label_smoothing) * both).sum() / self.nearby.others
        return F.softplus(self._logsumexp(facts) - both).sum() + _smoothing(about, both, self._of_sample(facts))

    def _of_answers(self, facts: Tensor) -> Tensor:
        """Return the scores of facts as answers for the subject and for the object [2, b]."""
        nobody = torch.empty(0, len(facts), dtype=torch.int64, device=facts.device)
        positive, _ = self.nearby.predictor.score_corrupted(facts, Negatives(nobody, nobody))
        return positive.reshape(-1, len(facts)).expand(2, -1)

    def _of_sample(self, facts: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores of the sample as answers for the subject, and for the object, of facts [b, sample]."""
        predictor = self.nearby.predictor
        known, candidates = predictor.encode(facts[:, [0, 2]]), self.nearby.sampled_vectors
        forward, backward = predictor.relation(facts[:, 1]), predictor.relation(predictor.inverse(facts[:, 1]))
        objects = predictor.scorer.score_objects(known[:, 0], forward, candidates)
        if predictor.rows_per_relation == 2:  # (?, r, o) is read from object to subject
            return predictor.scorer.score_objects(known[:, 1], backward, candidates), objects
        return predictor.scorer.score_subjects(candidates, forward, known[:, 1]), objects

    def _logsumexp(self, facts: Tensor) -> Tensor:
        """Return log Σ exp(score) over all entities that do not move, for both questions of facts [2, b]."""
        return torch.stack([scores.logsumexp(1) for scores in self._of_sample(facts)]) + math.log(self.nearby.scale)

    def _draw(self, size: int, shape: tuple[int, ...]) -> Tensor:
        drawn = torch.randint(size, shape, generator=self.generator)
        return drawn.to(self.nearby.sample.device)


def _smoothing(about: FactSettings, answers: Tensor, others: tuple[Tensor, Tensor]) -> Tensor:
    """Return what label smoothing adds to the cross-entropy: a share of the truth is spread over all."""
    if not about.label_smoothing:
        return answers.new_zeros(())
    means = torch.stack([scores.mean(1) for scores in others])
    return about.label_smoothing * (answers - means).sum()
