"""Scores of an atom as a matrix: one variable of the clause runs over its rows, another over its columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from clausal.model.model_f import ModelF, PairPredictor
from clausal.model.predictor import LinkPredictor

Place: TypeAlias = Literal["row", "column"] | int
"""What an argument of an atom is: the entity of the row, that of the column, or a constant's id."""

_SWAPPED: dict[Place, Place] = {"row": "column", "column": "row"}


class Block:
    """The scores of some rows, each matrix computed once for all that ask for the same ids, one after another."""

    def __init__(self) -> None:
        self._ids: Tensor | None = None
        self._kept: dict[Hashable, Tensor] = {}

    def once(self, key: Hashable, ids: Tensor, scores: Callable[[], Tensor]) -> Tensor:
        """Return the scores kept under a key, or compute them."""
        if ids is not self._ids:
            self._ids, self._kept = ids, {}
        if key not in self._kept:
            self._kept[key] = scores()
        return self._kept[key]


@dataclass(frozen=True)
class AtomScores:
    """The scores of one atom, and for which pairs of entities there are any.

    ``indicator`` scores a pair of entities 1 if the model has a vector for it and 0 if not; it is None where a
    model scores every pair. An atom without the row's or the column's variable has rows that broadcast. The fact score
    of a reciprocal model is the mean of the relation on (subject, object) and of its ``inverse`` on (object, subject).
    """

    predictor: LinkPredictor
    indicator: LinkPredictor | None
    relation: int
    subject: Place
    object: Place
    inverse: int | None = None
    block: Block | None = None  # where scores are kept that other readings of a clause need too

    def rows(self, ids: Tensor) -> Tensor:
        """Return rows: ids [b] → [b, entities], or [b, 1], [1, entities] or [1, 1]."""
        forward = self._scores(self.relation, self.subject, self.object, ids)
        if self.inverse is None:
            return forward
        return (forward + self._scores(self.inverse, self.object, self.subject, ids)) / 2

    def exists(self, ids: Tensor) -> Tensor | None:
        """Say where in these rows the model has something to score; None if everywhere."""
        return None if self.indicator is None else self._rows(self.indicator, 0, self.subject, self.object, ids) > 0

    def transposed(self) -> AtomScores:
        """Return the scores with rows as columns and columns as rows."""
        subject, object = (_SWAPPED.get(place, place) for place in (self.subject, self.object))
        return replace(self, subject=subject, object=object)

    def _scores(self, relation: int, subject: Place, object: Place, ids: Tensor) -> Tensor:
        def scores() -> Tensor:
            return self._rows(self.predictor, relation, subject, object, ids)

        return scores() if self.block is None else self.block.once((relation, subject, object), ids, scores)

    def _rows(self, predictor: LinkPredictor, relation: int, subject: Place, object: Place, ids: Tensor) -> Tensor:
        if (subject, object) == ("row", "column"):
            return predictor.score_objects(ids, torch.full_like(ids, relation))
        if (subject, object) == ("column", "row"):
            return predictor.score_subjects(torch.full_like(ids, relation), ids)
        subjects, objects = self._ids(subject, ids), self._ids(object, ids)
        return predictor.score(subjects, torch.full_like(subjects, relation), objects)

    def _ids(self, place: Place, ids: Tensor) -> Tensor:
        if place == "row":
            return ids.unsqueeze(1)
        if place == "column":
            return torch.arange(self.predictor.num_entities, device=ids.device).unsqueeze(0)
        return torch.full((1, 1), place, device=ids.device)


def pair_indicator(predictor: LinkPredictor) -> LinkPredictor | None:
    """Return a model that scores the pairs with a vector 1 and all others 0; None for a model of entities."""
    if not isinstance(predictor, PairPredictor):
        return None
    pairs = torch.stack([predictor.pairs // predictor.num_entities, predictor.pairs % predictor.num_entities], 1)
    indicator = PairPredictor(pairs, ModelF(1), num_entities=predictor.num_entities, num_relations=1)
    indicator = indicator.to(predictor.device)
    for parameter in indicator.parameters():
        parameter.data.fill_(1)
    return indicator
