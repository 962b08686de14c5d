"""One step by kernels is the step by autograd and by AdaGrad's formula: every scorer, loss, weight and projection."""

import pytest
import torch

from clausal.fast.kernels import FusedModel, find_kernels
from clausal.model.domains import Ball, Box, Projection, Sphere
from clausal.model.scorers import SCORERS
from clausal.training.losses import LOSSES

ENTITIES, RELATIONS, FACTS, NEGATIVES, DIM, MARGIN, RATE = 60, 3, 14, 3, 12, 0.7, 0.1
TRILINEAR = [name for name, kind in SCORERS.items() if kind.terms is not None]
DOMAINS = {
    Projection("clip", 0.0, 1.0): Box(0.0, 1.0),
    Projection("sphere"): Sphere(),
    Projection("ball"): Ball(),
}
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


class Example:
    """A model with entity vectors, and a batch of facts with corruptions."""

    def __init__(self, scorer, loss, weighted, onto, device, margin=MARGIN):
        generator = torch.Generator().manual_seed(5)
        self.scorer, self.loss, self.onto = SCORERS[scorer](DIM), LOSSES[loss](margin), onto
        self.entities = torch.randn(ENTITIES, DIM, generator=generator).to(device).requires_grad_()
        self.relations = (
            torch.randn(RELATIONS, self.scorer.relation_dim, generator=generator).to(device).requires_grad_()
        )
        sizes = torch.tensor([ENTITIES // 2, RELATIONS, ENTITIES // 2])  # some entities are in no fact
        self.facts = (torch.randint(1 << 20, (FACTS, 3), generator=generator) % sizes).to(device)
        self.corruptions = torch.randint(ENTITIES // 2, (2, NEGATIVES, FACTS), generator=generator).to(device)
        self.weights = 2 * torch.rand(RELATIONS, generator=generator).to(device) if weighted else None
        self.named = torch.tensor([1, ENTITIES - 1], device=device)
        self.by_named = torch.randn(2, DIM, generator=generator).to(device)
        terms = self.scorer.terms
        model = FusedModel(self.entities, self.relations, terms, onto, loss, margin, self.weights, self.named)
        self.kernels = find_kernels(torch.device(device))(model)

    def fact_loss(self):
        """J_F by the scorer and the loss."""
        (subject, relation, object), (x, y) = self.facts.T, self.corruptions
        entities, r = self.entities, self.relations[relation]
        negative = [
            self.scorer.score(entities[x], r, entities[object]),
            self.scorer.score(entities[subject], r, entities[y]),
        ]
        weights = None
        if self.weights is not None:
            weights = self.weights[relation].expand(NEGATIVES, -1)
            weights = torch.cat([weights, 2 - weights])
        return self.loss(self.scorer.score(entities[subject], r, entities[object]), torch.cat(negative), weights)

    def stepped(self):
        """Where a step by the formulas leads."""
        by_entities, by_relations = torch.autograd.grad(self.fact_loss(), (self.entities, self.relations))
        by_entities[self.named] += self.by_named
        entities, relations = (
            parameters.detach() - RATE * g / (0.1 + g.square()).sqrt()
            for parameters, g in ((self.entities, by_entities), (self.relations, by_relations))
        )
        touched = torch.cat([self.facts[:, [0, 2]].flatten(), self.corruptions.flatten(), self.named]).unique()
        entities[touched] = DOMAINS[self.onto].project(entities[touched])
        return entities, relations

    def step(self):
        loss = self.kernels.add_fact_gradients(self.facts, *self.corruptions)
        self.kernels.add_named_gradients(self.by_named)
        sums = (torch.full_like(table, 0.1).detach() for table in (self.entities, self.relations))
        self.kernels.adagrad_(*sums, RATE)
        return loss


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("onto", DOMAINS, ids=lambda onto: onto.kind)
@pytest.mark.parametrize("weighted", [False, True], ids=["uniform", "weighted"])
@pytest.mark.parametrize("loss", ["hinge", "pairwise", "logistic"])
@pytest.mark.parametrize("scorer", TRILINEAR)
def test_a_step_is_that_of_autograd_and_the_formulas(scorer, loss, weighted, onto, device):
    example = Example(scorer, loss, weighted, onto, device)
    DOMAINS[onto].project_(example.entities.data)
    for _ in range(2):  # the second finds the gradients at zero
        expected_loss, (entities, relations) = example.fact_loss().detach(), example.stepped()
        torch.testing.assert_close(example.step(), expected_loss)
        torch.testing.assert_close(example.entities.detach(), entities, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(example.relations.detach(), relations, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("onto", DOMAINS, ids=lambda onto: onto.kind)
@pytest.mark.parametrize("loss", ["hinge", "pairwise", "logistic"])
def test_nan_stays_nan_and_spreads_to_what_it_was_scored_with(loss, onto, device):
    example = Example("complex", loss, False, onto, device)
    subject, relation, object = example.facts[0].tolist()
    example.entities.data[subject, 0] = float("nan")
    assert example.step().isnan()
    for row in (example.entities[subject], example.entities[object], example.relations[relation]):
        assert row.isnan().any()


@pytest.mark.parametrize("device", DEVICES)
def test_facts_beyond_the_margin_move_nothing(device):
    example = Example("distmult", "hinge", False, Projection(), device, margin=-100.0)
    before = example.relations.detach().clone()
    assert example.step() == 0
    assert torch.equal(example.relations.detach(), before)
