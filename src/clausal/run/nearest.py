"""The nearest neighbours of an entity or a relation by their vectors: among all, or among what an index finds."""

from __future__ import annotations

from typing import NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from clausal.choices import Metric, VectorKind
from clausal.errors import InputError, did_you_mean
from clausal.evaluation.index import VectorIndex, lifted
from clausal.evaluation.protocol import scoring
from clausal.graph.graph import Graph
from clausal.graph.query import find_name
from clausal.model.predictor import LinkPredictor
from clausal.run.best_answers import best_of
from clausal.run.vectors import check_entity_vectors

_NUMBERS_AT_ONCE = 1 << 22


class Neighbour(NamedTuple):
    """A name and how near it is; the score is the cosine, the inner product, or minus the distance."""

    rank: int
    name: str
    score: float


def nearest(
    predictor: LinkPredictor,
    graph: Graph,
    name: str,
    k: int = 10,
    *,
    metric: Metric = "cosine",
    kind: VectorKind = "entity",
    index: VectorIndex | None = None,
) -> list[Neighbour]:
    """Return the k names of the same kind whose vectors are nearest; of equal ones those of the lowest id.

    An ``index`` of the same metric finds entities that are looked at in place of all.
    """
    if k < 1:
        raise InputError(f"k must be at least 1; got {k}")
    for given, choices, what in ((metric, get_args(Metric), "metric"), (kind, get_args(VectorKind), "kind")):
        if given not in choices:
            raise InputError(
                f"unknown {what} '{given}'{did_you_mean(given, choices)}; choose one of {', '.join(choices)}"
            )
    names = graph.entities if kind == "entity" else graph.relations
    own = names.id(find_name(name, names, graph))
    with scoring(predictor):
        if kind == "entity":
            check_entity_vectors(predictor)
            vectors = predictor.encode_all()
        else:
            vectors = predictor.scorer.relation_vectors(predictor.relations[: predictor.num_relations])
        if index is not None and index.metric == metric and kind == "entity" and 4 * k < len(names):
            query = lifted(vectors[own : own + 1], metric)[:, : vectors.shape[1]]
            near = index.find(query.float().cpu().numpy(), 2 * k + 1)[0]
            near = np.sort(near[near >= 0])
        else:
            near = np.arange(len(names))
        rows = vectors if len(near) == len(names) else vectors[torch.from_numpy(near).to(vectors.device)]
        scores = _scores(rows, vectors[own], metric)
    found = best_of(scores, min(k, len(near)), np.flatnonzero(near == own))
    pairs = zip(near[found.ids].tolist(), found.scores.tolist(), strict=True)
    return [Neighbour(rank, names[one], score) for rank, (one, score) in enumerate(pairs, 1)]


def _scores(vectors: Tensor, vector: Tensor, metric: Metric) -> np.ndarray:
    pieces = vectors.split(max(1, _NUMBERS_AT_ONCE // max(1, vectors.shape[1])))
    return torch.cat([_near(piece, vector, metric) for piece in pieces]).double().cpu().numpy()


def _near(vectors: Tensor, vector: Tensor, metric: Metric) -> Tensor:
    if metric == "euclidean":
        return -torch.linalg.vector_norm(vectors - vector, dim=1)
    products = (vectors * vector).sum(1)  # one by one, so that equal vectors have equal scores
    if metric == "dot":
        return products
    lengths = torch.linalg.vector_norm(vectors, dim=1) * torch.linalg.vector_norm(vector)
    return products / lengths.clamp_min(torch.finfo(lengths.dtype).tiny)  # a vector of zeros is near to nothing
