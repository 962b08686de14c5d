"""A warm start: a training that begins with what another model knows, by the names of its entities and relations.

New entities are folded in; new relations start at random. The optimiser starts afresh: with what it had gathered at the
end of the other training, known vectors would move too slowly to take in new facts. For the same reason all vectors are
made shorter where scores are products of them: a model that is sure of what it knows learns what is new badly (Ash and
Adams 2020, On warm-starting neural network training).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.config import Settings
from clausal.errors import InputError, count
from clausal.graph.graph import Graph
from clausal.graph.vocabulary import Names
from clausal.model.encoders import Table
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import MultilinearScorer
from clausal.observer import Observer
from clausal.training.folding import fold_in

Ids = NDArray[np.integer]

SHORTER = 0.5
"""What vectors of entities and relations are multiplied with, where scores are products of them."""


@dataclass(frozen=True, eq=False)
class WarmStart:
    """A trained model and the names of its rows."""

    predictor: LinkPredictor
    entities: Names
    relations: Names

    @torch.no_grad()
    def give(self, predictor: LinkPredictor, graph: Graph, settings: Settings, observer: Observer) -> None:
        """Put what is known by name into a new model, and fold in the entities that are not."""
        self._require_alike(predictor)
        old = self.predictor
        if old.device != predictor.device:
            old = deepcopy(old).to(predictor.device)  # the run that it belongs to stays where it is
        entities, relations = self.entities.ids(graph.entities), self.relations.ids(graph.relations)
        known, new = np.flatnonzero(entities >= 0), np.flatnonzero(entities < 0)
        here = np.flatnonzero(relations >= 0)
        if not len(known) or not len(here):
            what = "relations" if len(known) else "entities"
            raise InputError(f"{graph.name}: the run to start from knows none of its {what}; is it of another graph?")
        assert isinstance(predictor.encoder, Table)
        predictor.encoder.weight[_on(known, predictor)] = old.encode(_on(entities[known], predictor))
        for half in range(predictor.rows_per_relation):
            target, source = here + half * len(graph.relations), relations[here] + half * len(self.relations)
            predictor.relations[_on(target, predictor)] = old.relations[_on(source, predictor)]
        predictor.scorer.load_state_dict(old.scorer.state_dict())
        if len(new):
            predictor.encoder.weight[_on(new, predictor)] = self._folded(old, graph, new, settings, observer)
        if isinstance(predictor.scorer, MultilinearScorer):
            predictor.encoder.weight.mul_(SHORTER)
            predictor.relations[_on(_rows(here, graph, predictor), predictor)] *= SHORTER
        predictor.project_()
        observer.message(
            f"warm start: {count(len(known), 'entity', 'entities')} and {count(len(here), 'relation')} known, "
            f"{len(new):,} and {len(relations) - len(here):,} new"
        )

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


def _rows(relations: Ids, graph: Graph, predictor: LinkPredictor) -> Ids:
    """Return the rows of relations in the table of their parameters, both directions of each."""
    return np.concatenate([relations + half * len(graph.relations) for half in range(predictor.rows_per_relation)])


def _on(ids: Ids, predictor: LinkPredictor) -> Tensor:
    return torch.from_numpy(ids.astype(np.int64)).to(predictor.device)
