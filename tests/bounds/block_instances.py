"""Random block forms, boxes and reference searches for the tests of bounds."""

from __future__ import annotations

from itertools import product

import torch
from torch import Tensor

from clausal.bounds.blocks import AtomBlocks, LinearForms
from clausal.bounds.regions import Boxes

SCORERS = ("distmult", "complex", "simple")
IMPLICATION = LinearForms(torch.tensor([[1.0, -1.0]]).double(), torch.zeros(1).double())


def generator(seed: int) -> torch.Generator:
    """Return a generator of its own for each case."""
    return torch.Generator().manual_seed(seed)


def matrices(scorer: str, relations: Tensor) -> Tensor:
    """Return the blocks [..., components, size, size] of relation vectors [..., dim], written out by hand."""
    if scorer == "distmult":
        return relations[..., None, None]
    first, second = relations.chunk(2, -1)
    zero = torch.zeros_like(first)
    rows = {
        "complex": ((first, second), (-second, first)),
        "simple": ((zero, first / 2), (second / 2, zero)),
    }[scorer]
    return torch.stack([torch.stack(row, -1) for row in rows], -2)


def random_atoms(
    scorer: str, dim: int, subjects: tuple[int, ...], objects: tuple[int, ...], seed: int, clauses: int = 3
) -> AtomBlocks:
    """Return atoms of unrelated random relations."""
    relations = torch.randn(clauses, len(subjects), dim, generator=generator(seed), dtype=torch.float64)
    return AtomBlocks(matrices(scorer, relations), subjects, objects)


def chain(scorer: str, dim: int, length: int, seed: int, clauses: int = 3, *, transitive: bool = False) -> AtomBlocks:
    """Return r₁(X₀, X₁) ∧ … ⇒ h(X₀, X_length), of one relation if ``transitive``."""
    atoms = random_atoms(scorer, dim, (*range(length), 0), (*range(1, length + 1), length), seed, clauses)
    if transitive:
        return AtomBlocks(atoms.matrices[:, :1].expand_as(atoms.matrices), atoms.subjects, atoms.objects)
    return atoms


def conjunction(length: int, body: float = 0.0, head: float = 0.0) -> LinearForms:
    """Return the forms φ(bⱼ) − φ(h) of a conjunctive body."""
    identity = torch.eye(length, dtype=torch.float64)
    return LinearForms(torch.cat([identity, -torch.ones_like(identity[:, :1])], 1), torch.full((length,), head - body))


def thresholds(length: int, body: float, head: float) -> LinearForms:
    """Return the forms φ(bⱼ) − τ and τ′ − φ(h)."""
    signs = torch.tensor([1.0] * length + [-1.0]).double()
    return LinearForms(torch.diag(signs), torch.tensor([-body] * length + [head]).double())


def random_boxes(atoms: AtomBlocks, slots: int, seed: int, constants: int = 0) -> Boxes:
    """Return boxes with unrelated limits, some around 0 and some not; the last slots are constants."""
    clauses, _, components, size, _ = atoms.matrices.shape
    shape = (2, clauses, slots, components, size)
    low, high = torch.randn(shape, generator=generator(seed), dtype=torch.float64).sort(0).values
    if constants:
        high[:, -constants:] = low[:, -constants:]
    return Boxes(low, high)


def uniform_boxes(atoms: AtomBlocks, slots: int, low: float, high: float) -> Boxes:
    """Return the same interval for every number."""
    clauses, _, components, size, _ = atoms.matrices.shape
    limits = torch.ones(clauses, slots, components, size, dtype=torch.float64)
    return Boxes(low * limits, high * limits)


def smallest_form(atoms: AtomBlocks, forms: LinearForms, components: Tensor) -> Tensor:
    """Return min over forms at [clauses, …, slots, components, size], by a plain sum over atoms."""
    scores = [
        torch.einsum(
            "n...ip,nipq,n...iq->n...", components[..., s, :, :], atoms.matrices[:, a], components[..., o, :, :]
        )
        for a, (s, o) in enumerate(zip(atoms.subjects, atoms.objects, strict=True))
    ]
    return (torch.stack(scores, -1) @ forms.matrix.T + forms.offsets).amin(-1)


def best_corner(atoms: AtomBlocks, forms: LinearForms, boxes: Boxes) -> Tensor:
    """Return the largest min over forms over all corners of the whole boxes [clauses]."""
    ends = torch.stack([boxes.low, boxes.high], -1)
    numbers = ends[0, ..., 0].numel()
    best = torch.full((len(ends),), -torch.inf, dtype=torch.float64)
    choices = torch.tensor(list(product((0, 1), repeat=numbers))).reshape(-1, *ends.shape[1:4])
    for block in choices.split(4096):
        index = block.unsqueeze(0).expand(len(ends), *block.shape).unsqueeze(-1)
        points = ends.unsqueeze(1).expand(-1, len(block), *ends.shape[1:]).gather(-1, index).squeeze(-1)
        best = torch.maximum(best, smallest_form(atoms, forms, points).amax(1))
    return best
