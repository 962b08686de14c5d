"""The objective J = J_F + α J_I of the discriminator: the fact loss of a batch and the inconsistency of the clauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.adversary.adversary import Adversary
from clausal.adversary.clauses import ClauseGroup
from clausal.config import Settings
from clausal.model.predictor import LinkPredictor, Negatives
from clausal.training.against_all import AgainstAll, against_all
from clausal.training.clauses import ClauseLoss, ClauseParts, share_of_a_step
from clausal.training.corruption import Corruption
from clausal.training.losses import LOSSES, FactLoss
from clausal.training.regularisers import penalty_of_facts

_NUMBERS_IN_A_BATCH = 1 << 27  # 512 MB of looked-up vectors


@dataclass(eq=False)
class Objective:
    """What a step descends on: J_F of a batch, J_I of the clauses, and penalties."""

    predictor: LinkPredictor
    facts: Tensor  # what a pass goes through: facts [facts, 3], or what a QuerySource has for rows
    corruption: Corruption
    loss: FactLoss | AgainstAll
    clauses: ClauseParts
    settings: Settings

    @staticmethod
    def of(
        predictor: LinkPredictor,
        facts: Tensor,
        groups: Sequence[ClauseGroup],
        adversary: Adversary,
        settings: Settings,
    ) -> Objective:
        """Put together what the settings describe, on the predictor's device."""
        facts = facts.to(predictor.device)
        corruption = Corruption(
            predictor,
            facts,
            negatives=settings.facts.negatives,
            bernoulli=settings.facts.corruption == "bernoulli",
            filtered=settings.facts.filtered,
        )
        every = against_all(predictor, facts, settings)
        loss = every or LOSSES[settings.facts.loss](settings.facts.margin)
        groups = [group.to(predictor.device) for group in groups] if settings.clauses.alpha else []
        facts = facts if every is None else every.source.rows
        share = share_of_a_step(
            adversary, predictor, groups, settings, len(facts), _batch_size(predictor, len(facts), settings)
        )
        clauses = ClauseParts(adversary, predictor, groups, share)
        clauses.draw(torch.Generator().manual_seed(settings.train.seed))  # until the first epoch draws its own
        return Objective(predictor, facts, corruption, loss, clauses, settings)

    @property
    def groups(self) -> Sequence[ClauseGroup]:
        """All clauses."""
        return self.clauses.groups

    @property
    def clause_loss(self) -> ClauseLoss:
        """J_I of the clauses of a step."""
        return self.clauses.current.loss

    @property
    def clause_weights(self) -> Tensor:
        """How much each clause of a step counts [clauses]."""
        return self.clauses.current.weights

    @property
    def batch_size(self) -> int:
        """How many facts a batch has; less than asked for where its vectors would take too much memory."""
        return _batch_size(self.predictor, len(self.facts), self.settings)

    def draw(self, facts: Tensor, generator: torch.Generator) -> Negatives | None:
        """Draw the corruptions of a batch; None where it is trained against all entities."""
        return None if isinstance(self.loss, AgainstAll) else self.corruption.draw(facts, generator)

    def fact_loss(self, facts: Tensor, negatives: Negatives | None) -> tuple[Tensor, Tensor]:
        """J_F of a batch and its corruptions, if it has any, and the weighted penalty on its vectors."""
        if isinstance(self.loss, AgainstAll):
            return self.loss(facts)
        weight, kind = self.settings.facts.regulariser_weight, self.settings.facts.regulariser
        assert negatives is not None
        positive, negative = self.predictor.score_corrupted(facts, negatives)
        weights = self.corruption.weights(facts)
        loss = self.loss(positive, negative, weights if weights is None else weights.view_as(negative))
        return loss, weight * penalty_of_facts(kind, self.predictor, facts)

    def inconsistency(self) -> Tensor:
        """J_I of each clause of a step [clauses] on the adversarial set, weights not applied."""
        return self.clause_loss() if self.groups else self.clause_weights

    def weighted_sum(self, inconsistency: Tensor) -> Tensor:
        """J_I: the inconsistencies of a step's clauses, summed by what each counts."""
        return (self.clause_weights * inconsistency).sum()

    def weighted(self, inconsistency: Tensor) -> Tensor:
        """α J_I."""
        return self.settings.clauses.alpha * self.weighted_sum(inconsistency)

    def l2_penalty(self) -> Tensor:
        """The weighted squared norms of the parameters."""
        facts, predictor = self.settings.facts, self.predictor
        penalty = predictor.relations.new_zeros(())
        if facts.l2_entities:
            penalty = penalty + facts.l2_entities * sum(p.square().sum() for p in predictor.encoder.parameters())
        if facts.l2_relations:
            penalty = penalty + facts.l2_relations * predictor.relations.square().sum()
        return penalty


def _batch_size(predictor: LinkPredictor, facts: int, settings: Settings) -> int:
    vectors = (2 + 2 * settings.facts.negatives) * predictor.scorer.dim
    fair_share = -(-facts // settings.facts.batches)
    return settings.facts.batch_size or max(1, min(fair_share, _NUMBERS_IN_A_BATCH // vectors))
