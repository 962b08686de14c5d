"""Where new entities start: at the mean of the entities that stand where they do in known facts.

Each fact r(x, o) of a new entity x says: x is like the subjects of r that have the same object o. Where there is none,
x is like the subjects of r.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model.predictor import LinkPredictor

_FACTS_AT_ONCE = 1 << 14
_ENOUGH = 256
"""So many entities, drawn at random, stand for all that a relation has in one place."""


def start_vectors(predictor: LinkPredictor, train: Tensor, facts: Tensor, count: int, seed: int = 0) -> Tensor:
    """Return the vectors [count, dim] from which new entities start, given train and the facts about them [facts, 3].

    Ids from ``num_entities`` on are the new ones. An entity without facts starts at the mean of all.
    """
    known = predictor.num_entities
    total = torch.zeros(count, predictor.scorer.dim, device=predictor.device)
    number = torch.zeros(count, 1, device=predictor.device)
    for own, other in ((0, 2), (2, 0)):
        rows = facts[facts[:, own] >= known]
        alike, found = _alike(predictor, train, rows[:, 1], rows[:, other], own)
        in_place = _in_place(predictor, train, own, seed)[rows[:, 1]]
        total.index_add_(0, rows[:, own] - known, torch.where(found.unsqueeze(1), alike, in_place))
        number.index_add_(0, rows[:, own] - known, number.new_ones(len(rows), 1))
    anywhere = _sample_mean(predictor, torch.arange(known, device=predictor.device), seed)
    return predictor.domain.project(torch.where(number > 0, total / number.clamp_min(1), anywhere))


def _alike(
    predictor: LinkPredictor, train: Tensor, relations: Tensor, others: Tensor, own: int
) -> tuple[Tensor, Tensor]:
    """Return the mean of the entities that train has in the place ``own`` beside a relation and another entity.

    → [rows, dim], and whether there are any [rows].
    """
    width = int(max(others.max().item() if len(others) else 0, predictor.num_entities)) + 1
    wanted, places = torch.unique(relations * width + others, return_inverse=True)
    keys = train[:, 1].long() * width + train[:, 2 - own]
    where = torch.searchsorted(wanted, keys).clamp_max(max(0, len(wanted) - 1))
    matching = torch.nonzero(wanted[where] == keys).flatten() if len(wanted) else keys[:0]
    total = torch.zeros(len(wanted), predictor.scorer.dim, device=predictor.device)
    number = torch.zeros(len(wanted), 1, device=predictor.device)
    for some in matching.split(_FACTS_AT_ONCE):
        total.index_add_(0, where[some], predictor.encode(train[some, own].long()))
        number.index_add_(0, where[some], number.new_ones(len(some), 1))
    return (total / number.clamp_min(1))[places], (number > 0).flatten()[places]


def _in_place(predictor: LinkPredictor, train: Tensor, own: int, seed: int) -> Tensor:
    """Return the mean of the entities that each relation has in a place [relations, dim]; of all where it has none."""
    everywhere = _sample_mean(predictor, train[:, own].long(), seed)
    means = everywhere.repeat(predictor.num_relations, 1)
    for relation in train[:, 1].unique().tolist():
        means[relation] = _sample_mean(predictor, train[train[:, 1] == relation, own].long(), seed)
    return means


def _sample_mean(predictor: LinkPredictor, entities: Tensor, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(max(1, len(entities)), (min(_ENOUGH, len(entities)),), generator=generator)
    return predictor.encode(entities[drawn.to(entities.device)]).mean(0)
