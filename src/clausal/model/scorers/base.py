"""The scorer φ: scores vectors, not ids, so that an adversary can search the vectors it is given.

Arguments come in the order in which a fact is written: subject, relation, object.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from clausal.errors import InputError
from clausal.fast import fastest
from clausal.model.tensors import inner_products, xavier_


class TrilinearTerm(NamedTuple):
    """One term: its weight and the parts of relation, subject and object that it multiplies."""

    weight: float
    relation: int
    subject: int
    object: int


class Terms(NamedTuple):
    """A trilinear scorer as a sum of terms: φ_r(x, y) = Σ_t w_t Σᵢ r[ρ_t][i] x[σ_t][i] y[ω_t][i].

    Vectors are cut into parts of equal length; ρ, σ and ω number the part of the relation, of the subject and of the
    object. The gradient by one vector is, term by term, the product of the other two.
    """

    parts: int
    terms: tuple[TrilinearTerm, ...]


BROADCAST_LIMIT = 1 << 24
"""Most numbers a scorer without a matrix form may hold at once when it scores all candidates."""


class Scorer(nn.Module, ABC):
    """φ_r(h₁, h₂): a score for each triple of subject, relation and object vectors.

    A new scorer says in ``relation_dim`` how many numbers describe a relation and implements ``score``.
    Scorers that have a faster way to score all candidates override ``score_objects`` and ``score_subjects``.
    """

    name: ClassVar[str]
    distance: ClassVar[bool] = False
    """Whether a score is minus a distance, and so never positive."""
    halved: ClassVar[bool] = False
    """Whether an entity's vector is two halves, such as real and imaginary parts, so that dim must be even."""
    complex_numbers: ClassVar[bool] = False
    """Whether components are complex numbers, whose modulus and phase mean more than their two parts."""

    terms: ClassVar[Terms | None] = None
    """The scorer as a sum of trilinear terms, if it is one: fast kernels compute those."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        if self.halved and dim % 2:
            kind = type(self).__name__
            raise InputError(f"model.dim: {kind} needs an even dimension, as each entity has two halves; got {dim}")
        self.dim = dim

    @property
    def relation_dim(self) -> int:
        """How many numbers describe one relation."""
        return self.dim

    @abstractmethod
    def score(self, subject: Tensor, relation: Tensor, object: Tensor) -> Tensor:
        """Score [..., dim], [..., relation_dim], [..., dim] → [...], broadcasting over leading dimensions."""

    def score_objects(self, subject: Tensor, relation: Tensor, candidates: Tensor) -> Tensor:
        """Score every candidate as object: [b, dim], [b, relation_dim], [n, dim] → [b, n]."""
        rows = max(1, BROADCAST_LIMIT // max(1, candidates.numel()))
        return torch.cat(
            [
                self.score(s.unsqueeze(1), r.unsqueeze(1), candidates)
                for s, r in zip(subject.split(rows), relation.split(rows), strict=True)
            ]
        )

    def score_subjects(self, candidates: Tensor, relation: Tensor, object: Tensor) -> Tensor:
        """Score every candidate as subject: [n, dim], [b, relation_dim], [b, dim] → [b, n]."""
        rows = max(1, BROADCAST_LIMIT // max(1, candidates.numel()))
        return torch.cat(
            [
                self.score(candidates, r.unsqueeze(1), o.unsqueeze(1))
                for r, o in zip(relation.split(rows), object.split(rows), strict=True)
            ]
        )

    def components(self, vectors: Tensor) -> Tensor:
        """Take vectors [..., dim] apart into the components [..., components, size] that scores are sums over."""
        return torch.stack(halves(vectors), -1) if self.halved else vectors.unsqueeze(-1)

    def join(self, components: Tensor) -> Tensor:
        """Put components [..., components, size] together again: the inverse of ``components``. → [..., dim]."""
        return torch.cat(components.unbind(-1), -1)

    def reset_relations_(self, relations: Tensor, generator: torch.Generator | None = None) -> None:
        """Initialise the matrix of relation parameters [relations, relation_dim]."""
        xavier_(relations, generator)

    def relation_vectors(self, relations: Tensor) -> Tensor:
        """Return vectors of relations [relations, relation_dim] whose angles and distances mean something."""
        return relations

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Initialise the scorer's own parameters, which all relations share, if it has any."""

    def extra_repr(self) -> str:
        """Show the dimension in ``repr``."""
        return f"dim={self.dim}"


class MultilinearScorer(Scorer):
    """A scorer that is linear in the subject and in the object, so all candidates are one matrix product."""

    @abstractmethod
    def object_query(self, subject: Tensor, relation: Tensor) -> Tensor:
        """Return q with φ = ⟨q, object⟩. Shape [..., dim]."""

    @abstractmethod
    def subject_query(self, relation: Tensor, object: Tensor) -> Tensor:
        """Return q with φ = ⟨q, subject⟩. Shape [..., dim]."""

    def score(self, subject: Tensor, relation: Tensor, object: Tensor) -> Tensor:
        return torch.linalg.vecdot(self.object_query(subject, relation), object)

    def score_objects(self, subject: Tensor, relation: Tensor, candidates: Tensor) -> Tensor:
        return _products(self.object_query(subject, relation), candidates)

    def score_subjects(self, candidates: Tensor, relation: Tensor, object: Tensor) -> Tensor:
        return _products(self.subject_query(relation, object), candidates)


class BlockScorer(MultilinearScorer):
    """A scorer that is a sum of small bilinear forms: φ_r(x, y) = Σᵢ xᵢᵀ Mᵢ(r) yᵢ over components i.

    Certificates and closed forms come with ``blocks``, and with ``components`` and ``join`` where an entity's vector
    is neither its own components nor two halves.
    """

    rotates: ClassVar[bool] = False
    """Whether components mix the numbers of a vector, so that a box of vectors is no box of components."""

    @abstractmethod
    def blocks(self, relation: Tensor) -> Tensor:
        """Return the matrices Mᵢ of relations [..., relation_dim] → [..., components, size, size]."""


def halves(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Split [..., dim] into two halves [..., dim / 2]: real and imaginary part, or two roles."""
    first, second = vectors.chunk(2, dim=-1)
    return first, second


def _products(queries: Tensor, candidates: Tensor) -> Tensor:
    return fastest(inner_products, queries, candidates)(queries, candidates)
