"""The objective J = J_F + α J_I of the discriminator: the fact loss of a batch and the inconsistency of the clauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from clausal.adversary.ascent import AdversarialSet, Adversary
from clausal.adversary.clauses import ClauseGroup
from clausal.config import Settings
from clausal.graph.graph import Graph
from clausal.model.predictor import LinkPredictor, Negatives
from clausal.training.against_all import AgainstAll, against_all
from clausal.training.corruption import Corruption
from clausal.training.losses import LOSSES, FactLoss
from clausal.training.regularisers import penalty_of_facts

_NUMBERS_IN_A_BATCH = 1 << 27  # 512 MB of looked-up vectors


@dataclass(eq=False)
class Objective:
    """What a step descends on. ``adversarial_set`` is the set S that the adversary found last."""

    predictor: LinkPredictor
    facts: Tensor  # what a pass goes through: facts [facts, 3], or what a QuerySource has for rows
    corruption: Corruption
    loss: FactLoss | AgainstAll
    groups: Sequence[ClauseGroup]
    adversary: Adversary
    settings: Settings
    adversarial_set: AdversarialSet = field(default_factory=list)

    @staticmethod
    def of(
        predictor: LinkPredictor,
        graph: Graph,
        groups: Sequence[ClauseGroup],
        adversary: Adversary,
        settings: Settings,
    ) -> Objective:
        """Put together what the settings describe, on the predictor's device."""
        facts = torch.from_numpy(graph.train).to(predictor.device)
        corruption = Corruption(
            predictor,
            facts,
            negatives=settings.facts.negatives,
            bernoulli=settings.facts.corruption == "bernoulli",
            filtered=settings.facts.filtered,
        )
        every = against_all(predictor, facts, settings)
        loss = every or LOSSES[settings.facts.loss](settings.facts.margin)
        groups = [group.to(predictor.device) for group in groups] if settings.clauses.weight else []
        facts = facts if every is None else every.source.rows
        return Objective(predictor, facts, corruption, loss, groups, adversary, settings)

    def __post_init__(self) -> None:
        self._constants: AdversarialSet = []
        self.clause_weights = torch.cat([group.weights for group in self.groups]) if self.groups else None
        self._slopes = None if self.clause_weights is None else self.settings.clauses.weight * self.clause_weights

    def adopt(self, found: AdversarialSet) -> None:
        """Take a new adversarial set, and make ready what it is scored by until the next one."""
        self.adversarial_set = found
        constants = self.adversary.while_constant(self.predictor, self.groups, found)
        if [new.shape for new in constants] == [old.shape for old in self._constants]:
            for old, new in zip(self._constants, constants, strict=True):
                old.copy_(new)  # at the address of the old ones: a graph reads them there
        else:
            self._constants = [new.detach().clone() for new in constants]

    @property
    def batch_size(self) -> int:
        """How many facts a batch has; less than asked for where its vectors would take too much memory."""
        facts = self.settings.facts
        vectors = (2 + 2 * facts.negatives) * self.predictor.scorer.dim
        fair_share = -(-len(self.facts) // facts.batches)
        return facts.batch_size or max(1, min(fair_share, _NUMBERS_IN_A_BATCH // vectors))

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
        """J_I of each clause [clauses] on the adversarial set, weights not applied."""
        if not self.groups:
            return self.predictor.relations.new_zeros(0)
        return self.adversary.constant_inconsistency(self.predictor, self.groups, self._constants)

    def weighted(self, inconsistency: Tensor) -> Tensor:
        """Sum the clauses' inconsistencies by their weights."""
        return inconsistency.sum() if self.clause_weights is None else (self.clause_weights * inconsistency).sum()

    def regulariser(self) -> Tensor:
        """The weighted squared norms of the parameters."""
        facts, predictor = self.settings.facts, self.predictor
        penalty = predictor.relations.new_zeros(())
        if facts.l2_entities:
            penalty = penalty + facts.l2_entities * sum(p.square().sum() for p in predictor.encoder.parameters())
        if facts.l2_relations:
            penalty = penalty + facts.l2_relations * predictor.relations.square().sum()
        return penalty

    def beside_facts(self) -> tuple[Tensor, Tensor]:
        """Return α J_I plus the regulariser, and the inconsistency of each clause: what no batch changes."""
        inconsistency = self.inconsistency()
        return self.settings.clauses.weight * self.weighted(inconsistency) + self.regulariser(), inconsistency

    def add_gradient_beside_facts(self, into: Tensor) -> Tensor | None:
        """Add the gradient of α J_I by the relations, and return the inconsistency of each clause.

        None, and nothing is added, where there is more beside the facts, or autograd has to find the gradient.
        """
        facts = self.settings.facts
        if self._slopes is None or facts.l2_entities or facts.l2_relations:
            return None
        return self.adversary.add_gradient(self.predictor, self.groups, self._constants, self._slopes, into)
