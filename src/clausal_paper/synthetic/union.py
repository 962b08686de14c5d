"""Several knowledge bases of one size side by side in one link predictor, so that they train together.

Entities and relations of the bases are disjoint and corruption stays inside each, so the loss is a sum of one term for
each base, and every base trains as it would alone: AdaGrad and the projections work on each parameter or row by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from clausal.config import ModelSettings
from clausal.graph import Facts, Graph, Names
from clausal.model.build import build_domain, build_scorer
from clausal.model.encoders import Table
from clausal.model.predictor import LinkPredictor
from clausal.model.tensors import xavier_
from clausal_paper.synthetic.knowledge_bases import ENTITIES, RELATIONS, KnowledgeBase


class UnionPredictor(LinkPredictor):
    """A link predictor for the disjoint union of knowledge bases."""

    def __init__(self, settings: ModelSettings, bases: int) -> None:
        scorer = build_scorer(settings)
        table = Table(bases * ENTITIES, scorer.dim)
        sizes = {"num_entities": bases * ENTITIES, "num_relations": bases * RELATIONS}
        super().__init__(table, scorer, domain=build_domain(settings), **sizes)
        self.bases = bases

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Initialise each base by itself: Xavier's range depends on the number of rows."""
        for entities in self.encode_all().data.chunk(self.bases):
            xavier_(entities, generator)
        for relations in self.relations.data.chunk(self.bases):
            self.scorer.reset_relations_(relations, generator)
        self.project_()

    @property
    def num_candidates(self) -> int:
        """A corruption is drawn from the entities of its own base, and numbered within it."""
        return ENTITIES

    def candidates(self, drawn: Tensor, facts: Tensor) -> Tensor:
        return drawn + facts[:, 0] // ENTITIES * ENTITIES

    def random_arguments(self, shape: Sequence[int], generator: torch.Generator | None = None) -> Tensor:
        """Draw for each clause from the entities of its own base; every base has as many of the clauses."""
        base = torch.arange(shape[0], device=self.device) // (shape[0] // self.bases) * ENTITIES
        ids = torch.randint(ENTITIES, tuple(shape), generator=generator, device=self.device)
        return self.encode(ids + base.view(-1, *[1] * (len(shape) - 1)))


def union_graph(bases: Sequence[KnowledgeBase]) -> Graph:
    """Put the names and the train facts of the bases side by side."""
    entities = Names([name for base in bases for name in base.graph.entities], "entity")
    relations = Names([name for base in bases for name in base.graph.relations], "relation")
    return Graph(entities, relations, np.concatenate([in_union(base.graph.train, i) for i, base in enumerate(bases)]))


def in_union(facts: Facts, base: int) -> Facts:
    """Number facts of a base as the union does."""
    return facts + np.array([base * ENTITIES, base * RELATIONS, base * ENTITIES], dtype=facts.dtype)
