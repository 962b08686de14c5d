"""The step on a table that is worked on by rows: those of a batch are fetched, and updated where they lie.

Processes that train together each take a part of a batch. The rows that it needs are fetched from the processes that
have them, and their gradients go back to these, which take AdaGrad's step and project. Relations are everywhere the
same: their gradients are summed over processes. Clauses reach relations alone, so that each process adds its share of
their gradient to that sum, and they cost no communication; only a clause that names an entity adds that entity's row.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.fast import fastest
from clausal.model.domains import Domain
from clausal.model.row_table import Batch, RowGradients, RowTable, row_table, together
from clausal.training.objective import Objective
from clausal.training.step import Losses, Step

EPSILON = 1e-10
"""What AdaGrad adds to the roots that it divides by."""


class RowStep(Step):
    """One projected gradient step for a batch of facts and corruptions, on the rows that it touches."""

    name = "by rows"

    def __init__(self, objective: Objective, optimizer: torch.optim.Optimizer) -> None:
        super().__init__(objective, optimizer)
        table = row_table(objective.predictor)
        assert table is not None
        self.table = table
        self.peers = table.peers

    def own_part(self, batch: Tensor) -> Tensor:
        """Return this process's part of a batch, whose order is random.

        So each fact comes to every process now and then, and over passes its corruptions are drawn from all entities,
        though each process draws from its own. Facts near to their rows would see too few of the others.
        """
        return batch[self.peers.rank :: self.peers.size]

    def __call__(self, facts: Tensor, generator: torch.Generator) -> Losses:
        objective = self.objective
        negatives = objective.draw(facts, generator)
        self.optimizer.zero_grad()
        with self.table.recording() as batches:
            fact_loss, penalty = objective.fact_loss(facts, negatives)
            inconsistency = objective.inconsistency()
            (fact_loss + penalty + self.share_of_the_rest(inconsistency)).backward()
        self.descend_on_relations()
        self.descend_on_rows(together([bring_home(batch) for batch in batches]), generator)
        objective.predictor.obey_()
        return Losses(fact_loss.detach(), inconsistency.detach())

    def share_of_the_rest(self, inconsistency: Tensor) -> Tensor:
        """Return this process's share of what does not depend on the facts: α J_I, and the penalty on parameters."""
        return (self.objective.weighted(inconsistency) + self.objective.l2_penalty()) / self.peers.size

    def descend_on_relations(self) -> None:
        """Sum the gradients of what is everywhere the same over processes, and step."""
        for group in self.optimizer.param_groups:
            for parameter in group["params"]:
                if self.peers.size > 1 and parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)  # other processes may have one
                if parameter.grad is not None:
                    self.peers.sum_(parameter.grad)
        self.optimizer.step()

    def descend_on_rows(self, found: RowGradients, generator: torch.Generator) -> None:
        """Step on rows of this process."""
        rate = self.optimizer.param_groups[0]["lr"]
        given = self.table, *found, rate, self.objective.predictor.domain, generator
        fastest(descend_on_rows_, *given)(*given)


def bring_home(batch: Batch) -> RowGradients:
    """Bring the gradients that autograd has left at the rows of a batch to the processes that have these."""
    gradient = batch.rows.grad
    return batch.bring_home(torch.zeros_like(batch.rows) if gradient is None else gradient)


@torch.no_grad()
def descend_on_rows_(
    table: RowTable, rows: Tensor, gradient: Tensor, rate: float, domain: Domain, generator: torch.Generator
) -> None:
    """θ ← proj(θ − η g / √Σg²) on distinct rows of a table, for gradients [rows, dim].

    With one sum for a row, Σg² is that of the means of its squares, of what can move alone: on the cube many numbers of
    a row lie at its edge, held there by large gradients, which would make the steps of all the others small.
    """
    before = table.weight[rows].float()
    squares = gradient.square()
    if table.sums.shape[1] < squares.shape[1]:
        squares = (squares * domain.can_move(before, -gradient)).mean(1, keepdim=True)
    sums = table.sums[rows] + squares
    table.sums[rows] = sums
    vectors = before - rate * gradient / (sums.sqrt() + EPSILON)
    table.weight[rows] = rounded(domain.project(vectors), table.weight.dtype, generator)


def rounded(numbers: Tensor, dtype: torch.dtype, generator: torch.Generator) -> Tensor:
    """Round to bfloat16 at random, up or down so that the mean stays; single precision stays as it is.

    Rounding to the nearest would undo every step that is smaller than half the distance of two such numbers.
    """
    if dtype != torch.bfloat16:
        return numbers
    noise = torch.randint(1 << 16, numbers.shape, dtype=torch.int32, device=numbers.device, generator=generator)
    return ((numbers.view(torch.int32) + noise) & -(1 << 16)).view(torch.float32).bfloat16()
