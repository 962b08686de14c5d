"""A warm start: a training that begins with what another model knows, by the names of its entities and relations.

New entities are folded in; new relations start at random. What the optimiser had gathered is kept for what is known, so
that it moves as slowly as it did at the end of that training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from clausal.config import Settings
from clausal.errors import InputError, count
from clausal.graph.facts import Facts
from clausal.graph.graph import Graph
from clausal.graph.vocabulary import Names
from clausal.model.encoders import Table
from clausal.model.predictor import LinkPredictor
from clausal.observer import Observer
from clausal.training.folding import fold_in
from clausal.training.optimizers import optimizer_tensors, restore_optimizer

Ids = np.ndarray


@dataclass(frozen=True, eq=False)
class WarmStart:
    """A trained model, the names of its rows, and what the optimiser had gathered, as ``named_state`` returned it."""

    predictor: LinkPredictor
    entities: Names
    relations: Names
    optimizer: Mapping[str, Tensor] = field(default_factory=dict)

    @torch.no_grad()
    def give_vectors(self, predictor: LinkPredictor, graph: Graph, settings: Settings, observer: Observer) -> None:
        """Put what is known by name into a new model, and fold in the entities that are not."""
        self._require_alike(predictor)
        old = self.predictor.to(predictor.device)
        rows = self._rows(predictor, graph)
        known, new = _known_and_new(self.entities.ids(graph.entities))
        assert isinstance(predictor.encoder, Table)
        predictor.encoder.weight[_on(known, predictor)] = old.encode(_on(rows["encoder.weight"][known], predictor))
        relations = rows["relations"]
        here = np.flatnonzero(relations >= 0)
        predictor.relations[_on(here, predictor)] = old.relations[_on(relations[here], predictor)]
        predictor.scorer.load_state_dict(old.scorer.state_dict())
        if len(new):
            predictor.encoder.weight[_on(new, predictor)] = self._folded(old, graph, new, settings, observer)
        predictor.project_()
        unknown = int((self.relations.ids(graph.relations) < 0).sum())
        observer.message(
            f"warm start: {count(len(known), 'entity', 'entities')} and "
            f"{count(len(graph.relations) - unknown, 'relation')} known, {len(new):,} and {unknown:,} new"
        )

    @torch.no_grad()
    def give_state(self, optimizer: torch.optim.Optimizer, predictor: LinkPredictor, graph: Graph) -> None:
        """Put what the optimiser had gathered of known rows into a new one, where both are of a kind."""
        rows = self._rows(predictor, graph)
        own = optimizer_tensors(optimizer)
        names = [name for name, parameter in predictor.named_parameters() if parameter.requires_grad]
        for index, name in enumerate(names):
            for quantity in ("sum", "exp_avg", "exp_avg_sq", "step"):
                given, key = self.optimizer.get(f"{name}.{quantity}"), f"{index}.{quantity}"
                if given is None or (quantity == "sum" and key not in own):
                    continue
                given = given.to(predictor.device)
                if quantity == "step" or name not in rows:
                    own[key] = given
                    continue
                parameter = predictor.get_parameter(name)
                target = own.get(key, torch.zeros_like(parameter)).clone()
                here = np.flatnonzero(rows[name] >= 0)
                target[_on(here, predictor)] = given[_on(rows[name][here], predictor)]
                own[key] = target
        restore_optimizer(optimizer, own)

    def _rows(self, predictor: LinkPredictor, graph: Graph) -> dict[str, Ids]:
        """Return for each row of a table of the new model the row of the old one, or −1."""
        relations = self.relations.ids(graph.relations).astype(np.int64)
        both = [np.where(relations < 0, -1, relations + half * len(self.relations)) for half in range(2)]
        table = np.concatenate(both[: predictor.rows_per_relation])
        return {"encoder.weight": self.entities.ids(graph.entities).astype(np.int64), "relations": table}

    def _folded(self, old: LinkPredictor, graph: Graph, new: Ids, settings: Settings, observer: Observer) -> Tensor:
        """Return vectors of new entities by the facts whose relations the old model knows."""
        entities = self.entities.ids(graph.entities).astype(np.int64)
        entities[new] = len(self.entities) + np.arange(len(new))
        relations = self.relations.ids(graph.relations)
        facts = graph.train[relations[graph.train[:, 1]] >= 0]
        rows = np.stack([entities[facts[:, 0]], relations[facts[:, 1]], entities[facts[:, 2]]], 1)
        about = (rows[:, [0, 2]] >= len(self.entities)).any(1)
        train, own = (torch.from_numpy(part) for part in (rows[~about], rows[about]))
        return fold_in(old, train, own, len(new), settings, observer=observer)

    def _require_alike(self, predictor: LinkPredictor) -> None:
        """Refuse a model whose vectors mean something else."""
        old = self.predictor
        for what, one, other in (
            ("model.scorer", type(old.scorer).__name__, type(predictor.scorer).__name__),
            ("model.dim", old.scorer.dim, predictor.scorer.dim),
            ("model.reciprocal", old.rows_per_relation == 2, predictor.rows_per_relation == 2),
            ("the parameters of a relation", old.scorer.relation_dim, predictor.scorer.relation_dim),
        ):
            if one != other:
                raise InputError(f"{what}: the run to start from has {one}, the training {other}; leave it as it was")
        if old.of_pairs or not isinstance(old.encoder, Table) or not isinstance(predictor.encoder, Table):
            raise InputError("a warm start needs a vector for each entity, which this model does not have; train anew")


def named_state(optimizer: torch.optim.Optimizer, predictor: LinkPredictor) -> dict[str, Tensor]:
    """Return what an optimiser has gathered as tensors named ``<parameter>.<quantity>``."""
    names = [name for name, parameter in predictor.named_parameters() if parameter.requires_grad]
    found = {}
    for key, value in optimizer_tensors(optimizer).items():
        index, quantity = key.split(".", 1)
        found[f"{names[int(index)]}.{quantity}"] = value
    return found


def _known_and_new(ids: Facts) -> tuple[Ids, Ids]:
    return np.flatnonzero(ids >= 0), np.flatnonzero(ids < 0)


def _on(ids: Ids, module: nn.Module) -> Tensor:
    assert isinstance(module, LinkPredictor)
    return torch.from_numpy(ids).to(module.device)
