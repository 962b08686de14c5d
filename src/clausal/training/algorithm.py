"""Algorithm 1 of the paper: the adversary and the discriminator in turn, by projected stochastic gradient descent.

τ, τ_d, τ_a, α, γ and B of the paper are ``train.epochs``, ``train.passes``, ``clauses.steps``, ``clauses.weight``,
``facts.margin`` and ``clauses.sets`` in the settings.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from math import isfinite
from typing import Any

import torch
from torch import Tensor, nn

from clausal.adversary.adversary import AdversarialSet, Adversary, from_tensors, to_tensors
from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.parts import count_clauses
from clausal.adversary.reciprocal import by_clause
from clausal.config import Settings
from clausal.errors import RunError
from clausal.fast import FormChoice, fastest
from clausal.model.build import dealing_seed
from clausal.model.predictor import LinkPredictor
from clausal.model.row_table import peers_of, row_table
from clausal.model.tensors import generator_at, seed_at
from clausal.model.threads import threads_for
from clausal.observer import Observer, PassReport
from clausal.training.against_all import AgainstAll
from clausal.training.against_all.by_rows import AgainstAllRowStep
from clausal.training.averaging import ExponentialMovingAverage
from clausal.training.objective import Objective
from clausal.training.optimizers import make_optimizer, optimizer_tensors, restore_optimizer, squared_gradients
from clausal.training.rows import RowStep
from clausal.training.step import Losses, Pass, Step

_ADVERSARY, _FACTS, _CLAUSES = 1, 2, 3  # streams of random numbers
_MOST_INT32 = 2**31 - 1
_VIOLATED = 1e-6  # smaller violations are rounding errors


@dataclass
class Position:
    """How far a training has come, the best validation so far, and that of the model that is kept."""

    epoch: int = 0
    passes: int = 0
    best: float = -1.0
    best_epoch: int = 0
    kept: float = -1.0
    kept_inconsistency: float = 0.0
    since_best: int = 0
    stopped: bool = False

    @property
    def searched(self) -> int:
        """The epoch in which the adversary searched last."""
        return self.epoch if self.passes else max(0, self.epoch - 1)


Validate = Callable[[LinkPredictor], Mapping[str, float]]
"""Returns the filtered metrics on the valid facts."""
Certify = Callable[[LinkPredictor], Mapping[str, Any]]
"""Returns the certified inconsistency as an entry of the log, if there is one."""


class AdversarialSetTraining:
    """Trains a link predictor on facts [facts, 3] and on the adversarial sets of its clauses.

    ``opening`` is the adversary of the first epoch, where it is another one. ``choice`` says which fast forms may stand
    in for the reference that this file and ``step.py`` are.
    """

    def __init__(
        self,
        predictor: LinkPredictor,
        facts: Tensor,
        groups: Sequence[ClauseGroup],
        adversary: Adversary,
        settings: Settings,
        validate: Validate | None = None,
        certify: Certify | None = None,
        opening: Adversary | None = None,
        choice: FormChoice | None = None,
    ) -> None:
        self.predictor = predictor
        self.facts = facts
        self.groups = groups
        self.settings = settings
        self.adversary = adversary
        self.opening = opening or adversary
        self.validate = validate
        self.certify = certify
        self.choice = choice or FormChoice()
        self.position = Position()
        self.table, self.peers = row_table(predictor), peers_of(predictor)
        with self.choice.in_use():
            self.optimizer = make_optimizer(_stepped_on(predictor), settings.train)
            if predictor.feasible is not None:
                predictor.feasible.metric = partial(squared_gradients, self.optimizer)
            self.set_up(0)
        self.average = ExponentialMovingAverage(predictor, settings.train.averaging)
        self.bytes_per_step = 0
        self.best: dict[str, Tensor] = {}

    def set_up(self, epoch: int) -> None:
        """Put together what an epoch descends on and how: without the clauses before it is their time."""
        groups = self.groups if epoch >= self.settings.clauses.after else []
        self.objective = Objective.of(self.predictor, self.facts, groups, self.adversary, self.settings)
        kind = _kind_of_step(self.objective)
        self.step = fastest(kind, self.objective, self.optimizer)(self.objective, self.optimizer)
        self.train_pass = fastest(Pass, self.step)(self.step)

    def run(
        self,
        observer: Observer | None = None,
        checkpoint: Callable[[AdversarialSetTraining], None] | None = None,
    ) -> LinkPredictor:
        """AdversarialSetTraining(A): lines 1 to 7, from the current position on; returns the model that is kept.

        ``checkpoint`` is called wherever the training can be interrupted and resumed.
        """
        at, train, observer = self.position, self.settings.train, observer or Observer()
        with self.choice.in_use():
            while at.epoch < train.epochs and not at.stopped:  # for i ∈ {1, …, τ}
                started = time.perf_counter()
                if at.passes == 0:
                    if at.epoch == self.settings.clauses.after > 0 and self.groups:
                        self.set_up(at.epoch)
                    self.objective.clauses.adopt(self.find_adversarial_set())  # S ← FindAdversarialSet(A, θ)
                report = self.train_discriminator(observer, checkpoint)  # (θ, γ) ← TrainDiscriminator(G, θ, γ, S)
                at.epoch, at.passes = at.epoch + 1, 0
                with self.average.in_place() if self._due() else nullcontext():
                    certified = self._certify()
                    inconsistency = certified.get("certified", {}).get("inconsistency", report.inconsistency)
                    record = report.record() | certified | self._validate(inconsistency)
                if self.peers.size > 1:
                    record["bytes_per_step"] = self.bytes_per_step
                record["seconds"] = round(time.perf_counter() - started, 4)
                observer.epoch(record)
                if checkpoint:
                    checkpoint(self)
        self.average.adopt()
        return self.adopt_best() if self.settings.evaluate.keep == "best" else self.predictor

    @property
    def numbers(self) -> int:
        """About how many numbers a step goes through: the scores of its batch, the vectors of entities and clauses."""
        if not isinstance(self.objective.loss, AgainstAll):
            return sys.maxsize  # kernels have threads of their own, which do not wait for each other
        entities, dim = self.predictor.num_entities, self.settings.model.dim
        return entities * (self.objective.batch_size + dim) + count_clauses(self.objective.groups) * dim

    @property
    def threads(self) -> int:
        """How many threads of torch a step takes."""
        with threads_for(self.numbers):
            return torch.get_num_threads()

    @property
    def dealing_seed(self) -> int:
        """The seed from which rows are dealt over processes, however many there are."""
        return dealing_seed(self.settings)

    def adopt_best(self) -> LinkPredictor:
        """Go back to the model that was best on valid, if some was validated, also after the last one was kept."""
        if self.best:
            self.predictor.load_state_dict(self.best)
        return self.predictor

    def find_adversarial_set(self) -> AdversarialSet:
        """FindAdversarialSet(A, θ): let the adversary search, for the clauses that this epoch draws."""
        if not self.objective.groups:
            return []
        self.predictor.eval()  # the adversary attacks the model as it predicts, whatever mode it was left in
        epoch = self.position.epoch
        self.draw_clauses(epoch)
        generator = generator_at(self.settings.train.seed, _ADVERSARY, epoch, device=self.predictor.device)
        adversary = self.adversary if epoch else self.opening
        return self.objective.clauses.find(adversary, generator)

    def draw_clauses(self, epoch: int) -> None:
        """Draw the clauses of an epoch, where a part of them stands for all."""
        with self.choice.in_use():
            self.objective.clauses.draw(generator_at(self.settings.train.seed, _CLAUSES, epoch))

    def train_discriminator(
        self, observer: Observer, checkpoint: Callable[[AdversarialSetTraining], None] | None = None
    ) -> PassReport:
        """TrainDiscriminator(G, θ, γ, S): τ_d passes over the facts, each in random batches."""
        at = self.position
        self.predictor.train()
        while True:  # for i = 1, …, τ_d
            report = self._pass()
            self.average.update()
            at.passes += 1
            observer.passed(report)
            if at.passes >= self.settings.train.passes:
                return report
            if checkpoint:
                checkpoint(self)

    def _pass(self) -> PassReport:
        at, seed, device = self.position, self.settings.train.seed, self.predictor.device
        generator = generator_at(seed, _FACTS, at.epoch, at.passes, device=device)
        count = len(self.objective.facts)
        kind = torch.int32 if count <= _MOST_INT32 else torch.int64  # half the memory where it can be
        order = torch.randperm(count, generator=generator, device=device, dtype=kind)
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            torch.manual_seed(seed_at(seed, _FACTS, at.epoch, at.passes))  # for modules of users, such as dropout
            if self.peers.size > 1:  # each process draws corruptions of its own
                generator = generator_at(seed, _FACTS, at.epoch, at.passes, 1 + self.peers.rank, device=device)
            sent = self.peers.sent
            with threads_for(self.numbers):
                losses = self.train_pass(order, generator)
            self.bytes_per_step = (self.peers.sent - sent) // max(1, -(-len(order) // self.objective.batch_size))
        for parameter in _stepped_on(self.predictor):  # machines may round differently
            self.peers.from_first_(parameter.data)
        return self._report(losses)

    @torch.no_grad()
    def _report(self, losses: Losses) -> PassReport:
        """Bring home what a pass showed, in one copy, as each waits for a GPU; stop on NaN and infinity."""
        clauses = self.objective.clauses
        numbers = [
            losses.fact_loss,
            self.objective.weighted_sum(losses.inconsistency),
            clauses.share.parts * (by_clause(clauses.current.groups, losses.inconsistency) > _VIOLATED).sum(),
            # A sum of parameters is finite where all of them are, and takes no memory.
            *(parameter.sum() for parameter in self.predictor.parameters()),
        ]
        stacked = torch.stack([number.double() for number in numbers])
        stacked[1:3] /= self.peers.size  # of which each process has its own, on its own adversarial set
        fact_loss, inconsistency, violated, *sums = self.peers.sum_(stacked).tolist()
        report = PassReport(
            epoch=self.position.epoch + 1,
            passes=self.position.passes + 1,
            fact_loss=fact_loss / max(1, len(self.objective.facts)),
            inconsistency=inconsistency,
            violated=int(violated),
            estimated=clauses.sampled,
        )
        if all(map(isfinite, (fact_loss, inconsistency, *sums))):
            return report
        raise RunError(
            f"training diverged in epoch {report.epoch}, pass {report.passes}: fact loss {report.fact_loss:.4g}, "
            f"inconsistency {report.inconsistency:.4g}. Try a smaller train.learning_rate "
            f"(now {self.settings.train.learning_rate}), a smaller clauses.weight "
            f"(now {self.settings.clauses.weight}) or a bounded model.domain (now {self.predictor.domain.name})"
        )

    def _due(self) -> bool:
        """Say whether this is an epoch to validate and to certify after."""
        every, epoch = self.settings.evaluate.every, self.position.epoch
        return bool(every) and (epoch % every == 0 or epoch == self.settings.train.epochs)

    def _certify(self) -> dict[str, Any]:
        """Bound the inconsistency when it is due."""
        if self.certify is None or not self._due():
            return {}
        self.predictor.eval()
        return dict(self.certify(self.predictor))

    def _validate(self, inconsistency: float) -> dict[str, Any]:
        """Validate when it is due; remember the best model, and stop when patience has run out."""
        at, evaluate = self.position, self.settings.evaluate
        if self.validate is None or not self._due():
            return {}
        self.predictor.eval()
        metrics = dict(self.validate(self.predictor))
        # What is decided is decided by the first of several processes.
        decisive = torch.tensor([metrics[evaluate.ranked_by], inconsistency], dtype=torch.float64)
        value, inconsistency = self.peers.from_first_(decisive.to(self.predictor.device)).tolist()
        if self._to_be_kept(value, inconsistency):
            at.kept, at.kept_inconsistency, at.best_epoch = value, inconsistency, at.epoch
            self.best = {name: tensor.clone() for name, tensor in self.predictor.state_dict().items()}
        if value > at.best:
            at.best, at.since_best = value, 0
        else:
            at.since_best += 1
            enough = bool(evaluate.patience) and at.since_best >= evaluate.patience
            at.stopped = enough and evaluate.keep == "best"
        return {"valid": metrics}

    def _to_be_kept(self, value: float, inconsistency: float) -> bool:
        """Say whether a model takes the place of the one that is kept.

        By a metric alone the best is kept. With a tolerance it is the most consistent one within it of the best so far,
        and of equals the later: the kept one goes when it falls behind, and then the new one is the best.
        """
        at, evaluate = self.position, self.settings.evaluate
        if evaluate.metric == evaluate.ranked_by:
            return value > at.best
        least = max(at.best, value) - evaluate.tolerance
        return at.kept < least or (value >= least and inconsistency <= at.kept_inconsistency)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return all that a later process needs to go on exactly as this one would: tensors and plain values."""
        groups = {
            "model": self.predictor.state_dict(),
            "optimizer": optimizer_tensors(self.optimizer),
            "rows": {} if self.table is None else {"sums": self.table.sums},
            "adversarial_set": to_tensors(self.objective.clauses.adversarial_set),
            "average": self.average.parameters,
            "best": self.best,
        }
        # Cloned, as the training goes on in the tensors themselves.
        tensors = {f"{group}/{name}": value.clone() for group, part in groups.items() for name, value in part.items()}
        return tensors, asdict(self.position)

    def restore(self, tensors: Mapping[str, Tensor], position: Mapping[str, Any]) -> None:
        """Go back to a state returned by ``state``."""

        def part(group: str) -> dict[str, Tensor]:
            prefix = f"{group}/"
            return {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}

        device = self.predictor.device
        self.predictor.load_state_dict(part("model"))
        restore_optimizer(self.optimizer, part("optimizer"))
        if self.table is not None:
            self.table.sums.copy_(part("rows")["sums"])
        found = {name: tensor.to(device) for name, tensor in part("adversarial_set").items()}
        self.position = Position(**position)
        with self.choice.in_use():
            if self.settings.clauses.after:
                self.set_up(self.position.searched)
            self.draw_clauses(self.position.searched)
            self.objective.clauses.adopt(from_tensors(found))
        self.average.restore(part("average"))
        self.best = part("best")


def _stepped_on(predictor: LinkPredictor) -> list[nn.Parameter]:
    """Return what the optimiser steps on: all parameters but a table whose rows are stepped on one by one."""
    table = row_table(predictor)
    return [parameter for parameter in predictor.parameters() if table is None or parameter is not table.weight]


def _kind_of_step(objective: Objective) -> type[Step]:
    """Return the reference of the step that an objective needs."""
    if row_table(objective.predictor) is None:
        return Step
    return AgainstAllRowStep if isinstance(objective.loss, AgainstAll) and objective.loss.whole_table else RowStep
