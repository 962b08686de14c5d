"""Model F (Riedel et al. 2013; Demeester et al. 2016): a vector for each entity pair, φ_r(x, y) = θ_r · h₍ₓ,ᵧ₎.

Each pair of entities seen in training has a vector of its own. A pair that training never saw has none; its score is
0, the score of the zero vector.

θ · h is DistMult's ⟨θ, h, 1⟩ with the pair's vector as subject and a vector of ones as object. So Model F is a scorer
as any other, with closed forms and certificates; only which vectors an atom is scored on differs.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from clausal.model.domains import Domain
from clausal.model.encoders import Table
from clausal.model.predictor import LinkPredictor, Negatives
from clausal.model.scorers.distmult import DistMult
from clausal.model.tensors import ranges


class ModelF(DistMult):
    """θ_r · h of an entity pair, as ⟨θ_r, h, 1⟩; it goes with a ``PairPredictor``."""

    name = "model-f"
    terms = None  # type: ignore[assignment]  # kernels look entities up, not pairs


class PairPredictor(LinkPredictor):
    """φ_r(x, y) = θ_r · h₍ₓ,ᵧ₎ over the known pairs, given as two columns of entity ids [pairs, 2]."""

    of_pairs = True
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
        return self._score(self.pair_vectors(subjects, objects), relations)

    def pair_vectors(self, subjects: Tensor, objects: Tensor) -> Tensor:
        """Return the vectors of pairs, ids [...] → [..., dim]; zero for a pair without one."""
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
        positive = self._score(self.pair_vectors(facts[:, 0], facts[:, 2]), facts[:, 1])
        return positive, self._score(self.encoder(torch.cat([*negatives])), facts[:, 1])

    def corrupted(self, facts: Tensor, candidates: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the facts that other pairs make of these, in place of subject and object."""
        pairs = self.pairs[candidates]
        return pairs // self.num_entities, facts[:, 1].expand(len(candidates), -1), pairs % self.num_entities

    def random_arguments(self, shape: Sequence[int], generator: torch.Generator | None = None) -> Tensor:
        """Return the vectors of randomly drawn known pairs."""
        rows = torch.randint(len(self.pairs), tuple(shape), generator=generator, device=self.device)
        vectors: Tensor = self.encoder(rows)
        return vectors

    def constant_vectors(self, ids: Tensor) -> Tensor:
        """Return the vectors of pairs of constants, and a vector of ones, the object of every atom, after them.

        Ids [clauses, pairs, 2] → [clauses, pairs + 1, dim].
        """
        vectors = self.pair_vectors(*ids.unbind(-1))
        return torch.cat([vectors, vectors.new_ones(len(ids), 1, self.scorer.dim)], 1)

    def role_vectors(self, subjects: Tensor, objects: Tensor, argument: int) -> Tensor:
        return self.pair_vectors(subjects, objects)

    def indicator(self) -> LinkPredictor:
        pairs = torch.stack([self.pairs // self.num_entities, self.pairs % self.num_entities], 1)
        ones = PairPredictor(pairs, ModelF(1), num_entities=self.num_entities, num_relations=1).to(self.device)
        for parameter in ones.parameters():
            parameter.data.fill_(1)
        return ones

    def _score(self, pairs: Tensor, relations: Tensor) -> Tensor:
        return self.scorer.score(pairs, self.relation(relations), pairs.new_ones(self.scorer.dim))

    def _scatter(self, relations: Tensor, query: Tensor, rows: Tensor, entities: Tensor) -> Tensor:
        scores = torch.zeros(len(relations), self.num_entities, device=self.device, dtype=self.relations.dtype)
        scores[query, entities] = self._score(self.encoder(rows), relations[query])
        return scores
