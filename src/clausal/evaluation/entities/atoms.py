"""Scores of an atom as a matrix: one variable of the clause runs over its rows, another over its columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from clausal.model.model_f import ModelF, PairPredictor
from clausal.model.predictor import LinkPredictor

Place: TypeAlias = Literal["row", "column"] | int
"""What an argument of an atom is: the entity of the row, that of the column, or a constant's id."""

_SWAPPED: dict[Place, Place] = {"row": "column", "column": "row"}


@dataclass(frozen=True)
class AtomScores:
    """The scores of one atom, and for which pairs of entities there are any.

    ``indicator`` scores a pair of entities 1 if the model has a vector for it and 0 if not; it is None where a
    model scores every pair. An atom without the row's or the column's variable has rows that broadcast.
    """

    predictor: LinkPredictor
    indicator: LinkPredictor | None
    relation: int
    subject: Place
    object: Place

    def rows(self, ids: Tensor) -> Tensor:
        """Return rows: ids [b] → [b, entities], or [b, 1], [1, entities] or [1, 1]."""
        return self._rows(self.predictor, self.relation, ids)

    def exists(self, ids: Tensor) -> Tensor | None:
        """Say where in these rows the model has something to score; None if everywhere."""
        return None if self.indicator is None else self._rows(self.indicator, 0, ids) > 0

    def transposed(self) -> AtomScores:
        """Return the scores with rows as columns and columns as rows."""
        subject, object = (_SWAPPED.get(place, place) for place in (self.subject, self.object))
        return replace(self, subject=subject, object=object)

    def _rows(self, predictor: LinkPredictor, relation: int, ids: Tensor) -> Tensor:
        if (self.subject, self.object) == ("row", "column"):
            return predictor.score_objects(ids, torch.full_like(ids, relation))
        if (self.subject, self.object) == ("column", "row"):
            return predictor.score_subjects(torch.full_like(ids, relation), ids)
        subjects, objects = self._ids(self.subject, ids), self._ids(self.object, ids)
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
