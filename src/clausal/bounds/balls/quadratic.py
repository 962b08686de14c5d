"""Forms as quadratic forms Lⱼ(x) = Σᵢ xᵢᵀ Qⱼᵢ xᵢ + ℓⱼᵢᵀ xᵢ + cⱼ, where xᵢ is component i of all free slots."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.bounds.blocks import AtomBlocks, LinearForms


@dataclass(frozen=True, eq=False)
class QuadraticForms:
    """Forms in d = free slots · size numbers for each component, and the balls that the slots range in.

    A group is a number of components that share a ball for each slot: all of them, or one (a disc each).
    """

    quadratic: Tensor  # [clauses, groups, components of a group, forms, d, d], symmetric
    linear: Tensor  # [clauses, groups, components of a group, forms, d]
    constant: Tensor  # [clauses, forms]
    radius: Tensor  # [clauses, groups, free slots]
    size: int
    sphere: bool
    """Whether slots lie on the surface of their ball."""

    @property
    def free(self) -> int:
        """How many slots are free."""
        return self.radius.shape[2]


def quadratic_forms(
    atoms: AtomBlocks, forms: LinearForms, fixed: Tensor, radius: Tensor, groups: int, sphere: bool = False
) -> QuadraticForms:
    """Write forms of atoms as quadratic forms, given the vectors of the fixed slots, which follow the free ones."""
    clauses, _, components, size, _ = atoms.matrices.shape
    free = radius.shape[2]
    quadratic = atoms.matrices.new_zeros(clauses, components, len(forms.offsets), free, size, free, size)
    linear = atoms.matrices.new_zeros(clauses, components, len(forms.offsets), free, size)
    constant = forms.offsets.expand(clauses, -1).clone()
    for place, (subject, object) in enumerate(zip(atoms.subjects, atoms.objects, strict=True)):
        matrix = atoms.matrices[:, place]
        coefficient = forms.matrix[:, place]
        if subject < free and object < free:
            block = torch.einsum("nipq,j->nijpq", matrix, coefficient) / 2
            quadratic[:, :, :, subject, :, object] += block
            quadratic[:, :, :, object, :, subject] += block.mT
        elif subject < free:
            linear[:, :, :, subject] += torch.einsum("nipq,niq,j->nijp", matrix, fixed[:, object - free], coefficient)
        elif object < free:
            linear[:, :, :, object] += torch.einsum("nipq,nip,j->nijq", matrix, fixed[:, subject - free], coefficient)
        else:
            ends = fixed[:, subject - free], fixed[:, object - free]
            constant += torch.einsum("nipq,nip,niq,j->nj", matrix, *ends, coefficient)
    width = free * size
    return QuadraticForms(
        quadratic.reshape(clauses, groups, -1, len(forms.offsets), width, width),
        linear.reshape(clauses, groups, -1, len(forms.offsets), width),
        constant,
        radius,
        size,
        sphere,
    )
