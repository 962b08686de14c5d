"""The clauses of a step: their inconsistency loss and, where they are many, a random part of them for each step.

Thousands of clauses on B sets each would take far longer than the facts of a batch. They are dealt into parts at random
in each epoch (``adversary/parts.py``); the adversary searches for some of the parts, and the steps of a pass take these
in turn. A clause counts as often as there are parts, so that the mean of the loss and of its gradient stays what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.adversary.adversary import AdversarialSet, Adversary
from clausal.adversary.ascent import GradientAscent, RealEntities
from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.closed_form import ClosedForm
from clausal.adversary.parts import count_clauses, deal
from clausal.config import Settings
from clausal.fast import fastest
from clausal.model.predictor import LinkPredictor

_LEAST_WORK = {"cpu": 1 << 14, "cuda": 1 << 20}
"""Atoms on sets that a step scores for its clauses, however small its batch; a GPU has room for more."""
_ATOMS_PER_FACT = 0.8
"""How many atoms a step may score for each fact and corruption of its batch: these take about as long as those."""
_ENTITIES_PER_FACT = 32
"""How many scores of a matrix product take about as long as the score of a fact on its own."""
_SETS_OF_A_CLOSED_FORM = 32
"""On how many sets an atom could be scored while a closed form is evaluated."""
_SOLVING = 24
"""How often a loss could be evaluated while λ and μ are solved for."""


class ClauseLoss:
    """J_I of each clause on the set that the adversary found last, which stays the same until the next search."""

    in_place = False
    """Whether a new set is put where the last one lay, as a recorded step needs it."""

    def __init__(self, adversary: Adversary, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> None:
        self.adversary = adversary
        self.predictor = predictor
        self.groups = groups
        self.adversarial_set: AdversarialSet = ()

    def adopt(self, found: AdversarialSet) -> None:
        """Take a new adversarial set."""
        self.adversarial_set = found

    def __call__(self) -> Tensor:
        """Return the inconsistency of each clause [clauses], weights not applied."""
        return self.adversary.inconsistency(self.predictor, self.groups, self.adversarial_set)


@dataclass(frozen=True, eq=False)
class ClausePart:
    """Clauses that a step takes: their groups, their loss, and how much each counts [clauses]."""

    groups: Sequence[ClauseGroup]
    loss: ClauseLoss
    weights: Tensor


class ClauseParts:
    """The parts that the steps of an epoch take in turn; where clauses are few, one part of all of them."""

    def __init__(
        self, adversary: Adversary, predictor: LinkPredictor, groups: Sequence[ClauseGroup], share: Share
    ) -> None:
        self.adversary = adversary
        self.predictor = predictor
        self.groups = groups
        self.share = share
        self.parts: list[ClausePart] = []
        self._turn = 0

    @property
    def sampled(self) -> bool:
        """Whether a part stands for all clauses."""
        return self.share.parts > 1

    @property
    def current(self) -> ClausePart:
        """The part whose turn it is."""
        return self.parts[self._turn % len(self.parts)]

    def take_turn(self, step: int) -> None:
        """Let the part of a step be the current one; steps of a pass are counted from 0."""
        self._turn = step

    def draw(self, generator: torch.Generator) -> None:
        """Draw the parts of an epoch; a single part of all clauses stays as it is."""
        if self.parts and not self.sampled:
            return
        dealt = deal(self.groups, self.share.parts, self.share.searched, generator)
        self.parts = [self._part(groups) for groups in dealt]

    def find(self, adversary: Adversary, generator: torch.Generator | None = None) -> AdversarialSet:
        """Let an adversary search for the clauses of all parts; what it finds is in the order of the parts."""
        return [
            found
            for part in self.parts
            if part.groups
            for found in adversary.find(self.predictor, part.groups, generator)
        ]

    def adopt(self, found: AdversarialSet) -> None:
        """Take a new adversarial set."""
        start = 0
        for part in self.parts:
            part.loss.adopt(found[start : start + len(part.groups)])
            start += len(part.groups)

    @property
    def adversarial_set(self) -> AdversarialSet:
        """What was found for the groups of all parts."""
        return [found for part in self.parts for found in part.loss.adversarial_set]

    def _part(self, groups: Sequence[ClauseGroup]) -> ClausePart:
        loss = fastest(ClauseLoss, self.adversary, self.predictor, groups)(self.adversary, self.predictor, groups)
        weights = [self.share.parts * group.weights for group in groups]
        return ClausePart(groups, loss, torch.cat(weights) if weights else self.predictor.relations.new_zeros(0))


@dataclass(frozen=True)
class Share:
    """Into how many parts clauses are dealt, and for how many of these an epoch's adversary searches."""

    parts: int = 1
    searched: int = 1


def share_of_a_step(
    adversary: Adversary,
    predictor: LinkPredictor,
    groups: Sequence[ClauseGroup],
    settings: Settings,
    facts: int,
    batch_size: int,
) -> Share:
    """Say what part of the clauses a step takes: what ``clauses.per_step`` says, or as much as its facts take.

    The adversary searches for as many parts as keep it from taking longer than the steps do, of which a pass has some.
    """
    per_step = settings.clauses.per_step
    if per_step == "all" or not groups:
        return Share()
    if isinstance(per_step, int):
        parts = -(-count_clauses(groups) // per_step)
    else:
        work = sum(len(group) * len(group.shape.atoms) * _sets(adversary, predictor, group) for group in groups)
        parts = -(-work // _most_work(predictor, settings, batch_size))
    steps = -(-facts // batch_size)
    search = max(_search(adversary, predictor, group) for group in groups)
    affordable = max(1, settings.train.passes * steps // (2 * search))
    return Share(parts, min(parts, steps, affordable))


def _most_work(predictor: LinkPredictor, settings: Settings, batch_size: int) -> int:
    """Return how many atoms a step may score, so that clauses take no longer than facts."""
    if settings.facts.training == "corruption":
        scored = batch_size * (1 + 2 * settings.facts.negatives)
    else:
        scored = 2 * batch_size * predictor.num_entities // _ENTITIES_PER_FACT
    return max(_LEAST_WORK.get(predictor.device.type, _LEAST_WORK["cpu"]), int(_ATOMS_PER_FACT * scored))


def _sets(adversary: Adversary, predictor: LinkPredictor, group: ClauseGroup) -> int:
    """Return on how many sets each atom of a group is scored in a step, or what takes as long."""
    if isinstance(adversary, ClosedForm):
        if adversary.treats(predictor, group):
            return _SETS_OF_A_CLOSED_FORM
        return _sets(adversary.fallback, predictor, group) if adversary.fallback else 0
    return adversary.sets if isinstance(adversary, RealEntities) else 1


def _search(adversary: Adversary, predictor: LinkPredictor, group: ClauseGroup) -> int:
    """Return how often the loss of a group could be evaluated while its adversary searches."""
    if isinstance(adversary, ClosedForm):
        if adversary.treats(predictor, group):
            return _SOLVING if adversary.solves(predictor, group) else 1
        return _search(adversary.fallback, predictor, group) if adversary.fallback else 1
    return adversary.evaluations(predictor, group) if isinstance(adversary, GradientAscent) else 1
