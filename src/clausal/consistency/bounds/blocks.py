"""Atoms as block-bilinear forms, φ_a(x, y) = Σᵢ xᵢᵀ M_aᵢ yᵢ over small components i, and what a bound consists of."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.consistency.forms import LinearForms


@dataclass(frozen=True, eq=False)
class AtomBlocks:
    """The atoms of clauses of one shape: a block matrix for each component, and the slots they are scored on."""

    matrices: Tensor  # [clauses, atoms, components, size, size]
    subjects: tuple[int, ...]
    objects: tuple[int, ...]

    def scores(self, components: Tensor) -> Tensor:
        """Score every atom on sets of vectors [clauses, sets, slots, components, size] → [clauses, sets, atoms]."""
        subject, object = components[:, :, self.subjects], components[:, :, self.objects]
        return torch.einsum("naips,nkaip,nkais->nka", self.matrices, subject, object)

    def slot_gradients(self, components: Tensor, slot: int) -> Tensor:
        """Differentiate every atom by one slot's vector: [clauses, sets, atoms, components, size]."""
        subject, object = components[:, :, self.subjects], components[:, :, self.objects]
        by_subject = torch.einsum("naips,nkais->nkaip", self.matrices, object)
        by_object = torch.einsum("naips,nkaip->nkais", self.matrices, subject)
        is_subject = by_subject.new_tensor([place == slot for place in self.subjects])[:, None, None]
        is_object = by_subject.new_tensor([place == slot for place in self.objects])[:, None, None]
        return is_subject * by_subject + is_object * by_object

    def reflexive(self, slot: int) -> bool:
        """Say whether an atom has the slot as subject and as object, r(X, X), and so is quadratic in it."""
        return (slot, slot) in zip(self.subjects, self.objects, strict=True)

    def detach(self) -> AtomBlocks:
        """Return the atoms in double precision without their history, for a search."""
        return AtomBlocks(self.matrices.detach().double(), self.subjects, self.objects)

    def clause_range(self, start: int, end: int) -> AtomBlocks:
        """Return the atoms of some of the clauses."""
        return AtomBlocks(self.matrices[start:end], self.subjects, self.objects)


@dataclass(frozen=True, eq=False)
class Bound:
    """An upper bound of max over a region of min over forms, not clipped at 0, and a point that comes near it."""

    value: Tensor  # [clauses]
    """Differentiable in the atoms' matrices and in the region's limits, by the envelope theorem."""
    weights: Tensor  # [clauses, forms]
    """λ: how much each form counts. The bound is valid for every λ; this one makes it smallest."""
    components: Tensor  # [clauses, slots, components, size]
    """A point of the region: what min over forms attains there is a lower bound."""


def attained(atoms: AtomBlocks, forms: LinearForms, components: Tensor) -> Tensor:
    """Return min over forms on sets of vectors [clauses, sets, slots, components, size] → [clauses, sets]."""
    return forms.like(components)(atoms.scores(components))


def best_set(atoms: AtomBlocks, forms: LinearForms, components: Tensor) -> Tensor:
    """Return the set of each clause on which min over forms is largest: [clauses, slots, components, size]."""
    best = attained(atoms, forms, components).argmax(1)
    return components[torch.arange(len(components), device=components.device), best]
