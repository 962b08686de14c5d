"""Model F (Riedel et al. 2013; Demeester et al. 2016): a vector for each entity pair, φ_r(x, y) = θ_r · h₍ₓ,ᵧ₎.

Link prediction over entity pairs (Model F): each pair of entities seen in training has a vector of its own.

A pair that training never saw has no vector; its score is 0, the score of the zero vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from clausal.model.domains import Domain
from clausal.model.encoders import Table
from clausal.model.predictor import LinkPredictor, Negatives
from clausal.model.scorers.base import Scorer
from clausal.model.tensors import ranges


class ModelF(Scorer):
    """θ_r · h of an entity pair. Its one argument is the pair's vector, so it goes with a ``PairPredictor``."""

    name = "model-f"
    arguments = 1

    def score(self, relation: Tensor, pair: Tensor) -> Tensor:  # type: ignore[override]
        """Score [..., dim], [..., dim] → [...]."""
        return torch.linalg.vecdot(relation, pair)


class PairPredictor(LinkPredictor):
    """φ_r(x, y) = θ_r · h₍ₓ,ᵧ₎ over the known pairs, given as two columns of entity ids [pairs, 2]."""

    scorer: ModelF
    pairs: Tensor
    by_object: Tensor

    def __init__(
        self,
        pairs: Tensor,
        scorer: ModelF,
        *,
        num_entities: int,
        num_relations: int,
        domain: Domain | None = None,
    ) -> None:
        keys = torch.unique(pairs[:, 0].long() * num_entities + pairs[:, 1])
        super().__init__(
            Table(len(keys), scorer.dim),
            scorer,
            num_entities=num_entities,
            num_relations=num_relations,
            domain=domain,
        )
        # Sorted keys: subject · entities + object. A second order serves look-ups by object.
        self.register_buffer("pairs", keys)
        self.register_buffer("by_object", torch.argsort(keys % num_entities, stable=True), persistent=False)

    @property
    def num_candidates(self) -> int:
        return len(self.pairs)

    def score(self, subjects: Tensor, relations: Tensor, objects: Tensor) -> Tensor:
        return self.scorer.score(self.relation(relations), self.fixed_arguments(subjects, objects))

    def fixed_arguments(self, *entities: Tensor) -> Tensor:
        """Return the vectors of pairs; zero for a pair without one."""
        subjects, objects = entities
        keys = subjects * self.num_entities + objects
        rows = torch.searchsorted(self.pairs, keys).clamp_max(len(self.pairs) - 1)
        known = self.pairs[rows] == keys
        return self.encoder(rows) * known.unsqueeze(-1)

    def score_objects(self, subjects: Tensor, relations: Tensor) -> Tensor:
        start = torch.searchsorted(self.pairs, subjects * self.num_entities)
        stop = torch.searchsorted(self.pairs, (subjects + 1) * self.num_entities)
        query, rows = ranges(start, stop)
        return self._scatter(relations, query, rows, self.pairs[rows] % self.num_entities)

    def score_subjects(self, relations: Tensor, objects: Tensor) -> Tensor:
        objects_in_order = self.pairs[self.by_object] % self.num_entities
        objects = objects.contiguous()  # searchsorted warns about a column of facts
        start = torch.searchsorted(objects_in_order, objects)
        stop = torch.searchsorted(objects_in_order, objects, right=True)
        query, positions = ranges(start, stop)
        rows = self.by_object[positions]
        return self._scatter(relations, query, rows, self.pairs[rows] // self.num_entities)

    def score_corrupted(self, facts: Tensor, negatives: Negatives) -> tuple[Tensor, Tensor]:
        """Score facts and their corruptions, which are other known pairs: ids are rows of the pair table."""
        relation = self.relation(facts[:, 1])
        positive = self.scorer.score(relation, self.fixed_arguments(facts[:, 0], facts[:, 2]))
        return positive, self.scorer.score(relation, self.encoder(torch.cat([*negatives])))

    def random_arguments(self, shape: Sequence[int], generator: torch.Generator | None = None) -> Tensor:
        """Return the vectors of randomly drawn known pairs."""
        rows = torch.randint(len(self.pairs), tuple(shape), generator=generator, device=self.device)
        vectors: Tensor = self.encoder(rows)
        return vectors

    def _scatter(self, relations: Tensor, query: Tensor, rows: Tensor, entities: Tensor) -> Tensor:
        scores = torch.zeros(len(relations), self.num_entities, device=self.device, dtype=self.relations.dtype)
        scores[query, entities] = self.scorer.score(self.relation(relations[query]), self.encoder(rows))
        return scores
