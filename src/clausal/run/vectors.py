"""The vectors of a run's entities and relations, by name and as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from clausal.errors import InputError
from clausal.graph.graph import Graph
from clausal.graph.vocabulary import Names
from clausal.model.predictor import LinkPredictor

Floats = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors in the order of the vocabulary; they are the model's own memory, and cannot be written to.

    ``relations`` are read from subject to object. A model with reciprocal relations has a second vector for each, by
    which it answers (?, r, o) as (o, r⁻¹, ?): these are ``inverse_relations``, None in other models.
    """

    entity_names: Names
    relation_names: Names
    entities: Floats  # [entities, dim]
    relations: Floats  # [relations, relation_dim]
    inverse_relations: Floats | None = None  # [relations, relation_dim]

    def entity(self, name: str) -> Floats:
        """Return the vector of an entity [dim]."""
        found: Floats = self.entities[self.entity_names.id(name)]
        return found

    def relation(self, name: str) -> Floats:
        """Return the vector of a relation [relation_dim]."""
        found: Floats = self.relations[self.relation_names.id(name)]
        return found

    def inverse_relation(self, name: str) -> Floats:
        """Return the vector by which a reciprocal model reads a relation from object to subject [relation_dim]."""
        if self.inverse_relations is None:
            raise InputError("the model has one vector for each relation; model.reciprocal gives a relation two")
        found: Floats = self.inverse_relations[self.relation_names.id(name)]
        return found

    def __repr__(self) -> str:
        inverses = "" if self.inverse_relations is None else ", and their inverses"
        return (
            f"Vectors({len(self.entities):,} entities of {self.entities.shape[1]} numbers, "
            f"{len(self.relations):,} relations of {self.relations.shape[1]}{inverses})"
        )


def vectors_of(predictor: LinkPredictor, graph: Graph) -> Vectors:
    """Return the vectors of a predictor whose encoder is a table."""
    check_entity_vectors(predictor)
    relations = _array(predictor.relations)
    count = len(graph.relations)
    return Vectors(
        graph.entities,
        graph.relations,
        _array(predictor.encode_all()),
        relations[:count],
        relations[count:] if predictor.rows_per_relation > 1 else None,
    )


def check_entity_vectors(predictor: LinkPredictor) -> None:
    """Refuse a model that has vectors of pairs."""
    if predictor.of_pairs:
        raise InputError("Model F has a vector for each pair of entities, and none for an entity; train another model")


def _array(tensor: Tensor) -> Floats:
    array: Floats = tensor.detach().cpu().numpy().view()
    array.flags.writeable = False
    return array
