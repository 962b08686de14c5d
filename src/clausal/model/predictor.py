"""The link predictor: encoder h, scorer φ and relation parameters θ, scoring facts by their ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from clausal.model.described import DescribedEncoder
from clausal.model.domains import Domain, Unbounded
from clausal.model.encoders import FrozenTable, Table
from clausal.model.row_table import RowTable
from clausal.model.scorers.base import MultilinearScorer, Scorer


class Negatives(NamedTuple):
    """Corruptions of a batch of facts: ids that replace the subject and ids that replace the object."""

    subjects: Tensor  # [negatives, batch]
    objects: Tensor  # [negatives, batch]


class Feasible(Protocol):
    """A set of parameters that a model is kept inside.

    ``metric`` says how changes count: it returns the sums of squared gradients of a parameter, or None for all alike.
    ``connected`` are the ids of relations whose scores it compares, set by set, and ``excluded`` those of constraints,
    whose scores cannot all be above 0.
    """

    metric: Callable[[Tensor], Tensor | None] | None
    connected: list[set[int]]
    excluded: set[int]

    def project_(self, predictor: LinkPredictor) -> None:
        """Move the parameters of a model into the set."""


class LinkPredictor(nn.Module):
    """φ_r(h(a₁), h(a₂)) for entity ids a₁, a₂ and relation ids r."""

    trained: Tensor | None
    """The entities that train has, where others are described: only these compete as answers in training."""
    rows_per_relation: ClassVar[int] = 1
    """How many vectors a relation has."""
    of_pairs: ClassVar[bool] = False
    """Whether vectors are of pairs of entities (Model F) and not of entities."""

    def __init__(
        self,
        encoder: nn.Module,
        scorer: Scorer,
        *,
        num_entities: int,
        num_relations: int,
        domain: Domain | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.scorer = scorer
        self.domain = domain or Unbounded()
        self.num_entities = num_entities
        self.num_relations = num_relations
        self.feasible: Feasible | None = None
        self.register_buffer("trained", None, persistent=False)
        self.relations = nn.Parameter(torch.empty(self.rows_per_relation * num_relations, scorer.relation_dim))
        # Encoder and scorer come initialised, and the scorer may be in use elsewhere.
        scorer.reset_relations_(self.relations.data)
        if isinstance(encoder, Table):
            self.domain.project_(encoder.weight.data)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Initialise {θ, γ} at random and project the entities: line 2 of Algorithm 1."""
        if isinstance(self.encoder, Table | DescribedEncoder):
            self.encoder.reset_parameters(generator)
        self.scorer.reset_relations_(self.relations.data, generator)
        self.scorer.reset_parameters(generator)
        self.project_()

    @torch.no_grad()
    def scale_(self, factor: float) -> None:
        """Multiply the vectors of entities and relations, and project the entities."""
        if isinstance(self.encoder, Table):
            self.encoder.weight.mul_(factor)
        elif isinstance(self.encoder, DescribedEncoder):
            self.encoder.scale_(factor)
        self.relations.mul_(factor)
        self.project_()

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return self.relations.device

    @property
    def num_candidates(self) -> int:
        """How many ids a corruption can draw from."""
        return self.num_entities if self.trained is None else len(self.trained)

    def candidates(self, drawn: Tensor, facts: Tensor) -> Tensor:
        """Return the ids that numbers below ``num_candidates`` [..., b] stand for, drawn for facts [b, 3]."""
        return drawn if self.trained is None else self.trained[drawn]

    def corrupted(self, facts: Tensor, candidates: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return subjects, relations and objects [2 n, b] of facts [b, 3] with their corruptions put in.

        The first half of the candidates [2 n, b] replace subjects, the second half objects.
        """
        count = len(candidates) // 2
        subject, relation, object = (column.expand(count, -1) for column in facts.unbind(1))
        other_subject, other_object = candidates.chunk(2)
        return torch.cat([other_subject, subject]), relation.repeat(2, 1), torch.cat([object, other_object])

    def project_(self) -> None:
        """Project the entity vectors that training changes onto the domain, hⱼ ← proj(hⱼ), and obey hard clauses."""
        if isinstance(self.encoder, Table) and not isinstance(self.encoder, FrozenTable):
            self.domain.project_(self.encoder.weight.data)
        self.obey_()

    def obey_(self) -> None:
        """Move the parameters into the set that hard clauses leave, if there are any."""
        if self.feasible is not None:
            self.feasible.project_(self)

    def encode(self, entities: Tensor) -> Tensor:
        """Map entity ids [...] to vectors [..., dim] in the domain."""
        vectors: Tensor = self.encoder(entities)
        return vectors if isinstance(self.encoder, Table) else self.domain.project(vectors)

    def encode_all(self) -> Tensor:
        """Return the vectors of all entities [entities, dim]; those of this process, where several have a share."""
        if isinstance(self.encoder, Table):
            return self.encoder.own_vectors()
        return self.encode(torch.arange(self.num_entities, device=self.device))

    def relation(self, relations: Tensor) -> Tensor:
        """Look up relation ids [...] → parameters [..., relation_dim]."""
        return nn.functional.embedding(relations, self.relations)

    def score(self, subjects: Tensor, relations: Tensor, objects: Tensor) -> Tensor:
        """Score facts by their ids; the three broadcast."""
        return self.scorer.score(self.encode(subjects), self.relation(relations), self.encode(objects))

    def score_objects(self, subjects: Tensor, relations: Tensor) -> Tensor:
        """Score every entity as object: ids [b], [b] → [b, entities]."""
        return self.scorer.score_objects(self.encode(subjects), self.relation(relations), self.encode_all())

    def score_subjects(self, relations: Tensor, objects: Tensor) -> Tensor:
        """Score every entity as subject: ids [b], [b] → [b, entities]."""
        return self.scorer.score_subjects(self.encode_all(), self.relation(relations), self.encode(objects))

    def query_objects(self, subjects: Tensor, relations: Tensor) -> Tensor:
        """Return q with φ = ⟨q, object⟩ for vectors [b, dim] and relation ids [b]; the scorer must be multilinear."""
        assert isinstance(self.scorer, MultilinearScorer)
        return self.scorer.object_query(subjects, self.relation(relations))

    def query_subjects(self, relations: Tensor, objects: Tensor) -> Tensor:
        """Return q with φ = ⟨q, subject⟩ for relation ids [b] and vectors [b, dim]; the scorer must be multilinear."""
        assert isinstance(self.scorer, MultilinearScorer)
        return self.scorer.subject_query(self.relation(relations), objects)

    def inverse(self, relations: Tensor) -> Tensor:
        """Return the rows of the relation table that (?, r, o) is answered by; here those of (s, r, ?) too."""
        return relations

    def with_inverses(self) -> LinkPredictor:
        """Return a predictor to which every row of the relation table is a relation; itself if they are one to one."""
        return self

    def score_relations(self, subjects: Tensor, objects: Tensor) -> Tensor:
        """Score every relation: ids [b], [b] → [b, relations]."""
        relations = torch.arange(self.num_relations, device=self.device)
        return self.score(subjects.unsqueeze(-1), relations, objects.unsqueeze(-1))

    def score_corrupted(self, facts: Tensor, negatives: Negatives) -> tuple[Tensor, Tensor]:
        """Score facts [b, 3] and their corruptions; every vector is looked up once. → [b], [2 negatives, b]."""
        count = len(negatives.subjects)
        ids = torch.cat([facts[None, :, 0], negatives.subjects, facts[None, :, 2], negatives.objects])
        vectors = self.encode(ids)  # [2 + 2 negatives, b, dim]
        # Split, not slices: the gradient of a split is one concatenation, that of a slice a padded copy.
        subject, other_subjects, object, other_objects = vectors.split([1, count, 1, count])
        relation = self.relation(facts[:, 1])
        positive = self.scorer.score(subject, relation, object).squeeze(0)
        with_subjects = self.scorer.score(other_subjects, relation, object)
        with_objects = self.scorer.score(subject, relation, other_objects)
        return positive, torch.cat([with_subjects, with_objects])

    def random_arguments(self, shape: Sequence[int], generator: torch.Generator | None = None) -> Tensor:
        """Return the vectors of randomly drawn entities [*shape, dim]: where an adversarial set starts.

        Of several processes each draws among its own, which are a random sample of all, so that nothing travels.
        """
        if isinstance(self.encoder, RowTable) and self.encoder.peers.size > 1:
            return self.encoder.random_own_vectors(shape, generator)
        return self.encode(self.random_entities(shape, generator))

    def random_entities(self, shape: Sequence[int], generator: torch.Generator | None = None) -> Tensor:
        """Draw entities for the variables of clauses: ids [clauses, …]."""
        return torch.randint(self.num_entities, tuple(shape), generator=generator, device=self.device)

    def constant_vectors(self, ids: Tensor) -> Tensor:
        """Return the vectors of the constants of clauses: ids [clauses, constants, 1] → [clauses, constants, dim]."""
        return self.encode(ids.squeeze(-1))

    def role_vectors(self, subjects: Tensor, objects: Tensor, argument: int) -> Tensor:
        """Return the vectors that stand first (0) or second (1) in the facts with these subjects and objects."""
        return self.encode((objects if argument else subjects).unique())

    def indicator(self) -> LinkPredictor | None:
        """Return a predictor that scores 1 what this one can score and 0 all else; None where it scores everything."""
        return None

    @torch.no_grad()
    def with_table(self) -> LinkPredictor:
        """Return a predictor with every entity encoded once; itself if its encoder is such a table already."""
        if isinstance(self.encoder, Table) and self.encoder.weight.dtype == self.relations.dtype:
            return self
        table = (
            self.encoder.in_single_precision() if isinstance(self.encoder, Table) else FrozenTable(self.encode_all())
        )
        copy = type(self)(
            table,
            self.scorer,
            num_entities=self.num_entities,
            num_relations=self.num_relations,
            domain=Unbounded(),
        )
        copy.relations = self.relations
        return copy.train(self.training)
