"""Corruption δ of facts: each fact with another subject, and with another object.

Corruptions are drawn uniformly. Bernoulli corruption (Wang et al. 2014) corrupts the subject with probability
tph / (tph + hpt), tph being the mean number of objects per subject; here both sides are always drawn and their loss
terms weighted by that probability, which has the same mean and less noise.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model.predictor import LinkPredictor, Negatives

_MOST_REDRAWS = 100


class Corruption:
    """Draws the negatives of a batch of facts, and their weights."""

    def __init__(
        self,
        predictor: LinkPredictor,
        train: Tensor,
        *,
        negatives: int = 1,
        bernoulli: bool = False,
        filtered: bool = False,
    ) -> None:
        self.predictor = predictor
        self.negatives = negatives
        self.subject_share = _subject_share(train, predictor.num_relations) if bernoulli else None
        self.known = self._keys(*train.long().unbind(1)).unique() if filtered else None

    def draw(self, facts: Tensor, generator: torch.Generator) -> Negatives:
        """Draw ``negatives`` other subjects and as many other objects for each fact [b, 3]."""
        return Negatives(*self.predictor.candidates(self.draw_numbers(facts, generator), facts).chunk(2))

    def draw_numbers(self, facts: Tensor, generator: torch.Generator) -> Tensor:
        """Draw the same as numbers below ``num_candidates`` of the predictor [2 negatives, b], subjects first."""
        ids = self._randint((2 * self.negatives, len(facts)), generator)
        if self.known is not None:
            self._redraw_known_(ids, facts, generator)
        return ids

    def weights(self, facts: Tensor) -> Tensor | None:
        """Return the weights [2 negatives, b] of the loss terms, or None where all are 1."""
        if self.subject_share is None:
            return None
        share = 2 * self.subject_share[facts[:, 1]]
        return torch.cat([share.expand(self.negatives, -1), (2 - share).expand(self.negatives, -1)])

    def _redraw_known_(self, ids: Tensor, facts: Tensor, generator: torch.Generator) -> None:
        """Replace corruptions that are known facts; gives up on a fact whose every corruption is known."""
        pending = self._are_known(ids, facts)
        for _ in range(_MOST_REDRAWS):
            if not pending.any():
                return
            ids[pending] = self._randint((int(pending.sum()),), generator)
            pending &= self._are_known(ids, facts)

    def _are_known(self, ids: Tensor, facts: Tensor) -> Tensor:
        assert self.known is not None
        keys = self._keys(*self.predictor.corrupted(facts, self.predictor.candidates(ids, facts)))
        position = torch.searchsorted(self.known, keys).clamp_max(len(self.known) - 1)
        return self.known[position] == keys

    def _keys(self, subject: Tensor, relation: Tensor, object: Tensor) -> Tensor:
        return (subject * self.predictor.num_relations + relation) * self.predictor.num_entities + object

    def _randint(self, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        candidates = self.predictor.num_candidates
        return torch.randint(candidates, shape, generator=generator, device=self.predictor.device)


def _subject_share(train: Tensor, num_relations: int) -> Tensor:
    """Return tph / (tph + hpt) for each relation [relations]."""
    subject, relation, object = train.long().unbind(1)

    def distinct(entity: Tensor) -> Tensor:
        pairs = torch.unique(torch.stack([relation, entity]), dim=1)
        return torch.bincount(pairs[0], minlength=num_relations).clamp_min(1)

    # tph = facts / subjects and hpt = facts / objects, so that the share is objects / (subjects + objects).
    subjects, objects = distinct(subject), distinct(object)
    return objects / (subjects + objects)
