"""Forms gathered by the free slots that they depend on, with constants as factors: what closed forms and losses use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import torch
from torch import Tensor

from clausal.consistency.bounds.blocks import AtomBlocks
from clausal.consistency.forms import LinearForms

_Key = TypeVar("_Key")


@dataclass
class Terms:
    """One form in the vectors of free slots; matrices are [clauses, components, size, size]."""

    constant: Tensor  # [clauses]
    pairs: dict[tuple[int, int], Tensor] = field(default_factory=dict)  # the smaller slot first
    squares: dict[int, Tensor] = field(default_factory=dict)
    linear: dict[int, Tensor] = field(default_factory=dict)  # [clauses, components, size]

    @property
    def separate(self) -> bool:
        """Whether no slot stands in two terms."""
        slots = [*(slot for pair in self.pairs for slot in pair), *self.squares, *self.linear]
        return len(slots) == len(set(slots))


def gather_terms(
    atoms: AtomBlocks, forms: LinearForms, fixed: Tensor, free: int, weights: Tensor | None = None
) -> Terms:
    """Weigh forms by λ [clauses, forms], which a single form does not need, and add up atoms on the same slots."""
    linear_forms = forms.like(atoms.matrices)
    weights = torch.ones_like(linear_forms.offsets).expand(len(fixed), -1) if weights is None else weights
    matrices = ((weights @ linear_forms.matrix)[:, :, None, None, None] * atoms.matrices).unbind(1)
    terms = Terms(weights @ linear_forms.offsets)
    for place in forms.atoms:
        matrix, subject, object = matrices[place], atoms.subjects[place], atoms.objects[place]
        if subject == object < free:
            _add(terms.squares, subject, matrix)
        elif subject < free and object < free:
            _add(terms.pairs, (min(subject, object), max(subject, object)), matrix if subject < object else matrix.mT)
        elif subject < free:
            _add(terms.linear, subject, torch.einsum("nist,nit->nis", matrix, fixed[:, object - free]))
        elif object < free:
            _add(terms.linear, object, torch.einsum("nist,nis->nit", matrix, fixed[:, subject - free]))
        else:
            ends = fixed[:, subject - free], fixed[:, object - free]
            terms.constant = terms.constant + torch.einsum("nis,nist,nit->n", ends[0], matrix, ends[1])
    return terms


def _add(sums: dict[_Key, Tensor], key: _Key, tensor: Tensor) -> None:
    sums[key] = sums[key] + tensor if key in sums else tensor
