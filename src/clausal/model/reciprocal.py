"""Reciprocal relations (Lacroix et al. 2018): each relation r has a second vector, r⁻¹, read from object to subject.

Row r of the relation table answers (s, r, ?) and row r + R answers (?, r, o), as (o, r⁻¹, ?). Nothing outside knows of
r⁻¹ but the readings of clauses in ``clausal.adversary.reciprocal``: names, ids and counts are those of the relations.
"""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.model.predictor import LinkPredictor, Negatives
from clausal.model.scorers.base import MultilinearScorer


class ReciprocalPredictor(LinkPredictor):
    """φ_r(h(a₁), h(a₂)) for questions about objects, φ_r⁻¹(h(a₂), h(a₁)) for those about subjects."""

    rows_per_relation = 2

    def inverse(self, relations: Tensor) -> Tensor:
        """Return the rows of r⁻¹ for relation ids r."""
        return relations + self.num_relations

    def score(self, subjects: Tensor, relations: Tensor, objects: Tensor) -> Tensor:
        """Score facts by their ids: the mean of both readings."""
        subject, object = self.encode(subjects), self.encode(objects)
        forward = self.scorer.score(subject, self.relation(relations), object)
        return (forward + self.scorer.score(object, self.relation(self.inverse(relations)), subject)) / 2

    def score_subjects(self, relations: Tensor, objects: Tensor) -> Tensor:
        return self.score_objects(objects, self.inverse(relations))

    def query_subjects(self, relations: Tensor, objects: Tensor) -> Tensor:
        assert isinstance(self.scorer, MultilinearScorer)
        return self.scorer.object_query(objects, self.relation(self.inverse(relations)))

    def score_corrupted(self, facts: Tensor, negatives: Negatives) -> tuple[Tensor, Tensor]:
        """Score facts and corruptions by the reading that answers with what was corrupted.

        → [2, 1, b], [2, negatives, b], subjects first.
        """
        count = len(negatives.subjects)
        ids = torch.cat([facts[None, :, 0], negatives.subjects, facts[None, :, 2], negatives.objects])
        subjects, objects = self.encode(ids).split(1 + count)  # the fact's own, then the corrupted: [1 + n, b, dim]
        forward, backward = self.relation(facts[:, 1]), self.relation(self.inverse(facts[:, 1]))
        by_subject = self.scorer.score(objects[:1], backward, subjects)
        by_object = self.scorer.score(subjects[:1], forward, objects)
        positive, negative = torch.stack([by_subject, by_object]).split([1, count], 1)
        return positive, negative

    def with_inverses(self) -> LinkPredictor:
        """Return a predictor of 2R relations with the same parameters: r⁻¹ is relation r + R."""
        plain = LinkPredictor(
            self.encoder,
            self.scorer,
            num_entities=self.num_entities,
            num_relations=2 * self.num_relations,
        )
        plain.domain = self.domain  # not projected onto again: the entities are in it
        plain.relations = self.relations
        return plain.train(self.training)
