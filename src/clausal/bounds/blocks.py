"""What is bounded: linear forms of the scores of atoms, where each atom is a sum of small bilinear forms.

An atom scores φ_a(x, y) = Σᵢ xᵢᵀ M_aᵢ yᵢ over components i (``AtomBlocks``); a violation is max over a region of
minⱼ (Cⱼ · scores + oⱼ) (``LinearForms``); and a bound of it is a number, the λ that gives it and a point of the region
(``Bound``). For one form, or a weighted mean of several, all atoms on the same variables add up (``GatheredForm``).

Vectors have slots: the free ones, which are the variables, come first and the fixed ones, the constants, after them.
See "Forms", "Duality" and "Blocks" in docs/explanation/certificates.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import torch
from torch import Tensor

_Slots = TypeVar("_Slots", int, tuple[int, int])


@dataclass(frozen=True, eq=False)
class LinearForms:
    """minⱼ (matrixⱼ · scores + offsetsⱼ), one alternative of a violation."""

    matrix: Tensor  # [forms, atoms]
    offsets: Tensor  # [forms]

    def like(self, tensor: Tensor) -> LinearForms:
        """Return the forms with the dtype and on the device of ``tensor``; each copy is made once."""
        key = tensor.dtype, tensor.device
        if key not in self._copies:
            self._copies[key] = LinearForms(self.matrix.to(tensor), self.offsets.to(tensor))
        return self._copies[key]

    @cached_property
    def atoms(self) -> tuple[int, ...]:
        """The atoms that occur in some form."""
        return tuple(place for place, column in enumerate(self.matrix.T.tolist()) if any(column))

    @cached_property
    def _copies(self) -> dict[tuple[torch.dtype, torch.device], LinearForms]:
        return {}

    def __call__(self, scores: Tensor) -> Tensor:
        """Return minⱼ of the forms for scores [..., atoms] → [...]."""
        return (scores @ self.matrix.T + self.offsets).amin(-1)


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
        """Tell whether an atom has the slot as subject and as object, r(X, X), and so is quadratic in it."""
        return (slot, slot) in zip(self.subjects, self.objects, strict=True)

    def detach(self) -> AtomBlocks:
        """Return the atoms in double precision without their history, for a search."""
        return AtomBlocks(self.matrices.detach().double(), self.subjects, self.objects)

    def clause_range(self, start: int, end: int) -> AtomBlocks:
        """Return the atoms of some of the clauses."""
        return AtomBlocks(self.matrices[start:end], self.subjects, self.objects)


@dataclass
class GatheredForm:
    """One form, sorted by the free slots that its atoms depend on.

    Σ over pairs (v, w) of x_vᵀ M x_w + Σ over squares of x_vᵀ S x_v + Σ over linear of ℓ · x_v + constant. Matrices
    are [clauses, components, size, size].
    """

    constant: Tensor  # [clauses]
    pairs: dict[tuple[int, int], Tensor] = field(default_factory=dict)  # atoms on two slots, the smaller slot first
    squares: dict[int, Tensor] = field(default_factory=dict)  # atoms r(X, X)
    linear: dict[int, Tensor] = field(default_factory=dict)  # atoms with a constant: ℓ [clauses, components, size]

    @property
    def separate(self) -> bool:
        """Whether no slot occurs in two of the terms, so that each term can be maximised on its own."""
        slots = [*(slot for pair in self.pairs for slot in pair), *self.squares, *self.linear]
        return len(slots) == len(set(slots))


def gather_form(
    atoms: AtomBlocks, forms: LinearForms, fixed: Tensor, free: int, weights: Tensor | None = None
) -> GatheredForm:
    """Weigh forms by λ [clauses, forms], which a single form does not need, and add up atoms on the same slots."""
    linear_forms = forms.like(atoms.matrices)
    weights = torch.ones_like(linear_forms.offsets).expand(len(fixed), -1) if weights is None else weights
    matrices = ((weights @ linear_forms.matrix)[:, :, None, None, None] * atoms.matrices).unbind(1)
    form = GatheredForm(weights @ linear_forms.offsets)
    for place in forms.atoms:
        matrix, subject, object = matrices[place], atoms.subjects[place], atoms.objects[place]
        if subject == object < free:
            _add(form.squares, subject, matrix)
        elif subject < free and object < free:
            _add(form.pairs, (min(subject, object), max(subject, object)), matrix if subject < object else matrix.mT)
        elif subject < free:
            _add(form.linear, subject, torch.einsum("nist,nit->nis", matrix, fixed[:, object - free]))
        elif object < free:
            _add(form.linear, object, torch.einsum("nist,nis->nit", matrix, fixed[:, subject - free]))
        else:
            ends = fixed[:, subject - free], fixed[:, object - free]
            form.constant = form.constant + torch.einsum("nis,nist,nit->n", ends[0], matrix, ends[1])
    return form


def _add(sums: dict[_Slots, Tensor], key: _Slots, tensor: Tensor) -> None:
    sums[key] = sums[key] + tensor if key in sums else tensor


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
