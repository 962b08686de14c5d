"""The step of several processes on CPUs: kernels work on the own rows where they lie.

Corruptions are own rows. Of the subjects and objects of its facts a process fetches those that are not its own, into
spare rows behind them, so that the kernels of one process serve here too. The gradients of the spare rows go to the
processes that have them, and those that come are added before the step.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from clausal.fast.cpu.compiling import as_array
from clausal.fast.cpu.step import CPUKernels
from clausal.fast.kernels import FusedModel
from clausal.fast.rows import FusedRowStep
from clausal.training.objective import Objective
from clausal.training.step import Losses


class SharedStep(FusedRowStep):
    """The same step for single precision."""

    name = "fused, in place"

    def __init__(self, objective: Objective, optimizer: torch.optim.Optimizer) -> None:
        super().__init__(objective, optimizer)
        predictor, facts, share = objective.predictor, objective.settings.facts, objective.corruption.subject_share
        assert predictor.scorer.terms is not None
        assert predictor.domain.projection is not None
        weights = None if share is None else 2 * share
        none = torch.empty(0, dtype=torch.long)
        entities, terms, onto = self.table.with_spare, predictor.scorer.terms, predictor.domain.projection
        model = FusedModel(entities, self.relations, terms, onto, facts.loss, facts.margin, weights, none)
        self.in_place = CPUKernels(model)

    def __call__(self, facts: Tensor, generator: torch.Generator) -> Losses:
        dealing, kernels, own = self.table.dealing, self.in_place, len(self.table.weight)
        subjects, objects = self.objective.corruption.draw_numbers(facts, generator).chunk(2)  # of own rows
        inconsistency, named = self._add_clause_gradients(kernels.relation_gradient)
        homes = dealing.homes(torch.cat([facts[:, 0], facts[:, 2]]))
        places = homes - dealing.rank * dealing.rows
        foreign = ((places < 0) | (places >= own)).nonzero().squeeze(1)
        wanted, which = homes[foreign].unique(return_inverse=True)
        places[foreign] = own + which
        batch = self.table.fetch_into_spare(wanted)
        subject, object = places.chunk(2)
        asked = np.concatenate([as_array(one.asked) for one in (batch, *(one for one, _ in named))])
        fact_loss = kernels.add_fact_gradients(torch.stack([subject, facts[:, 1], object], 1), subjects, objects, asked)
        spare = np.arange(own, own + len(wanted))
        for one, gradient in [(batch, torch.from_numpy(kernels.gradients_of(spare))), *named]:
            for came in one.bring_apart(gradient):
                kernels.add_gradients_of(as_array(came.places), as_array(came.gradients))
        self._descend()
        self.objective.predictor.obey_()
        return Losses(fact_loss, inconsistency)

    def _descend(self) -> None:
        """Sum the gradients of relations over processes, and step."""
        kernels = self.in_place
        kernels.sum_relation_gradients()
        self.peers.sum_(kernels.relation_gradient)
        (group,) = self.optimizer.param_groups
        kernels.adagrad_(self.table.sums, self.optimizer.state[self.relations]["sum"], group["lr"])
