"""A pass of KALE over facts and ground rules in mini-batches, and the truth values that it ranks (Guo et al. 2016).

Nothing in a pass waits for a GPU, so that it can be recorded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from clausal.graph import Facts
from clausal.model import LinkPredictor, Sphere, Table
from clausal_paper.kale.groundings import GroundRules
from clausal_paper.kale.settings import KaleSettings


def scale(dim: int) -> float:
    """Return 3√k, which no ‖h + r − t‖₁ of unit vectors exceeds."""
    return 3 * math.sqrt(dim)


def triple_truth(difference: Tensor) -> Tensor:
    """I = 1 − ‖h + r − t‖₁ / (3√k), from h + r − t [..., dim] → [...]."""
    return 1 - difference.abs().sum(-1) / scale(difference.shape[-1])


def rule_truth(body: Tensor, head: Tensor) -> Tensor:
    """I = ∏ I(body) · (I(head) − 1) + 1: the product t-norm. [..., atoms], [...] → [...]."""
    # Not Tensor.prod, whose gradient looks for zeros and so waits for a GPU.
    return math.prod(body.unbind(-1), start=torch.ones_like(head)) * (head - 1) + 1


def ranking_loss(positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """Σ max(0, margin − positive + negative)."""
    return (margin - positive + negative).clamp_min(0).sum()


_TINY = 1e-8


class UnitRows:
    """A matrix whose rows have unit norm, and AdaGrad's sums of squared gradients."""

    def __init__(self, weight: Tensor, learning_rate: float) -> None:
        self.weight = Sphere().project_(weight)  # [rows, dim]
        self.squares = torch.zeros_like(weight)
        self.learning_rate = learning_rate

    def descend_(self, rows: Tensor, gradients: Tensor) -> None:
        """Take a step on gradients [n, dim] of rows [n], which may repeat, and restore the unit norms."""
        if self.weight.is_cuda:  # finding the rows that change would wait for the GPU; the others get a step of 0
            self._step_(torch.zeros_like(self.weight).index_add_(0, rows, gradients), self.squares, self.weight)
            return
        changed = torch.zeros(len(self.weight), dtype=torch.bool)
        changed[rows] = True
        places = changed.nonzero().squeeze(1)
        slots = torch.empty(len(self.weight), dtype=torch.int64)
        slots[places] = torch.arange(len(places))
        gradient = gradients.new_zeros(len(places), gradients.shape[1]).index_add_(0, slots[rows], gradients)
        squares, weight = self.squares.index_select(0, places), self.weight.index_select(0, places)
        self._step_(gradient, squares, weight)
        self.squares.index_copy_(0, places, squares)
        self.weight.index_copy_(0, places, weight)

    def _step_(self, gradient: Tensor, squares: Tensor, weight: Tensor) -> None:
        gradient /= gradient.square().sum(-1, keepdim=True).sqrt_().clamp_min_(1)
        squares.addcmul_(gradient, gradient)
        weight.addcdiv_(gradient, squares.sqrt().add_(_TINY), value=-self.learning_rate)
        weight /= weight.square().sum(-1, keepdim=True).sqrt_()


class _Rules(NamedTuple):
    """Ground rules as tensors."""

    atoms: Tensor
    rule: Tensor
    others: Tensor
    other_count: Tensor

    def negatives(self, heads: Tensor, chosen: Tensor, generator: torch.Generator) -> Tensor:
        """Return the heads [b, 3] of the chosen ground rules with another relation, one that is not in the rule."""
        rule = self.rule[chosen]
        drawn = torch.rand(len(chosen), generator=generator, device=chosen.device) * self.other_count[rule]
        subject, _, object = heads.unbind(1)
        return torch.stack([subject, self.others[rule, drawn.long()], object], 1)


class KalePass:
    """Goes once through facts and ground rules in a random order, and takes a step on each mini-batch."""

    def __init__(
        self, predictor: LinkPredictor, facts: Facts, rules: Sequence[GroundRules], settings: KaleSettings
    ) -> None:
        assert isinstance(predictor.encoder, Table)
        device = predictor.device
        self.settings = settings
        self.facts = torch.from_numpy(facts).to(device, torch.int64)
        self.rules = [
            _Rules(*(torch.from_numpy(array).to(device, torch.int64) for array in vars(some).values()))
            for some in rules
            if len(some)
        ]
        self.entities = UnitRows(predictor.encoder.weight.data, settings.learning_rate)
        self.relations = UnitRows(predictor.relations.data, settings.learning_rate)
        self.scale = scale(settings.dim)

    @torch.no_grad()
    def __call__(self, generator: torch.Generator) -> Tensor:
        """Return the loss, summed over the pass."""
        total = torch.zeros((), device=self.facts.device)
        parts = [self._mini_batches(len(some), generator) for some in (self.facts, *(r.atoms for r in self.rules))]
        for facts, *rules in zip(*parts, strict=True):
            total += self.step(facts, rules, generator)
        return total

    def step(self, facts: Tensor, rules: Sequence[Tensor], generator: torch.Generator) -> Tensor:
        """Take a step on these facts and ground rules, given by their places, and return their loss."""
        triples = self.triples(facts, rules, generator)
        subject, relation, object = triples.unbind(1)
        difference = self.entities.weight.index_select(0, subject)
        difference += self.relations.weight.index_select(0, relation)
        difference -= self.entities.weight.index_select(0, object)
        with torch.enable_grad():
            truth = triple_truth(difference).requires_grad_()
            loss = self.loss(truth, len(facts), [len(chosen) for chosen in rules])
            (slope,) = torch.autograd.grad(loss, truth)
        if not slope.is_cuda:  # most triples keep the margin in time
            active = slope.nonzero().squeeze(1)
            slope, difference = slope[active], difference.index_select(0, active)
            subject, relation, object = subject[active], relation[active], object[active]
        # I falls by sign(h + r − t) / 3√k, so the loss rises by minus its slope times that.
        gradient = difference.sign_() * (slope / -self.scale).unsqueeze(1)
        self.relations.descend_(relation, gradient)
        self.entities.descend_(torch.cat([subject, object]), torch.cat([gradient, -gradient]))
        return loss.detach()

    def triples(self, facts: Tensor, rules: Sequence[Tensor], generator: torch.Generator) -> Tensor:
        """Return what the loss is over: facts, other subjects, other objects; each ground rule's atoms, other heads."""
        positive = self.facts.index_select(0, facts)
        subject, relation, object = positive.unbind(1)
        shape = (2, len(facts))
        drawn = torch.randint(len(self.entities.weight), shape, generator=generator, device=positive.device)
        found = [positive, torch.stack([drawn[0], relation, object], 1), torch.stack([subject, relation, drawn[1]], 1)]
        for some, chosen in zip(self.rules, rules, strict=True):
            grounded = some.atoms.index_select(0, chosen)
            found += [grounded.flatten(0, 1), some.negatives(grounded[:, -1], chosen, generator)]
        return torch.cat(found)

    def loss(self, truth: Tensor, facts: int, rules: Sequence[int]) -> Tensor:
        """Return the ranking loss of facts and of ground rules, from the truth of ``triples``."""
        margin, weight = self.settings.margin, self.settings.rule_weight
        positive, negative, rest = truth.split([facts, 2 * facts, len(truth) - 3 * facts])
        loss = ranking_loss(positive, negative.view(2, -1), margin)
        for some, count in zip(self.rules, rules, strict=True):
            atoms = some.atoms.shape[1]
            grounded, other_head, rest = rest.split([atoms * count, count, len(rest) - (atoms + 1) * count])
            body, head = grounded.view(count, atoms).split([atoms - 1, 1], 1)
            head = head.squeeze(1)
            loss = loss + weight * ranking_loss(rule_truth(body, head), rule_truth(body, other_head), margin)
        return loss

    def _mini_batches(self, count: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        # Sorted random numbers: a CUDA graph cannot hold torch.randperm.
        order = torch.rand(count, generator=generator, device=self.facts.device).argsort()
        return order.tensor_split(self.settings.batches)
