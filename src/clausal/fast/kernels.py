"""What kernels are given and what they compute: of a model while it trains, and of its clauses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from clausal.model.domains import Projection
from clausal.model.scorers.base import Terms

LOSS_NUMBERS = {"hinge": 0, "pairwise": 1, "logistic": 2}
"""The fact losses that kernels compute, by the number under which they know them."""

PROJECTIONS = {"clip": 0, "sphere": 1, "ball": 2}
"""The kinds of projections, by the number under which kernels know them."""


@dataclass(frozen=True, eq=False)
class FusedModel:
    """A trilinear model on the memory of torch's tensors, in single precision."""

    entities: Tensor  # [entities, dim]
    relations: Tensor  # [relations, relation_dim]
    terms: Terms
    onto: Projection
    loss: str
    margin: float
    subject_weights: Tensor | None
    """How much a corrupted subject counts by relation [relations]; a corrupted object counts 2 minus that."""
    named: Tensor
    """The entities that clauses name [named]: they move in every step, whatever its facts."""

    @property
    def width(self) -> int:
        """How many numbers a part of a vector has."""
        return self.entities.shape[1] // self.terms.parts


class BoundSets(NamedTuple):
    """Adversarial sets of clauses of one shape: vectors bound to their variables, the relations of
    their atoms, and which vectors an atom is scored on.
    """

    vectors: Tensor  # [clauses, sets, slots, dim]
    relations: Tensor  # [relations, relation_dim]
    ids: Tensor  # [clauses, atoms]
    subjects: tuple[int, ...]
    objects: tuple[int, ...]


class CornerFeatures(NamedTuple):
    """One alternative of the closed forms on a box of clauses of one shape."""

    features: Tensor  # f [clauses, corners, numbers]
    constants: Tensor  # [clauses]


class PairForm(NamedTuple):
    """One linear form in atoms of one pair of variables, whose largest value on sphere and ball is a singular value."""

    coefficients: tuple[float, ...]  # of each atom
    swapped: tuple[bool, ...]  # whether an atom's subject is the second variable
    constant: float
    width: int
    """How many components a vector has."""


class BallForm(NamedTuple):
    """The forms of clauses of one shape weighed by λ, and μ: what their bound on sphere or ball is made of."""

    coefficients: Tensor  # [clauses, atoms]
    offsets: Tensor  # [clauses]
    multipliers: Tensor  # μ [clauses, free]
    subjects: tuple[int, ...]
    objects: tuple[int, ...]
    sphere: bool
    width: int
    """How many components a vector has."""


class Forms(NamedTuple):
    """A violation [maxₖ minⱼ (Cⱼ · scores + oⱼ)]₊ in single precision; ``ends`` says where alternative k has ended."""

    matrix: Tensor  # [forms, atoms]
    offsets: Tensor  # [forms]
    ends: Tensor  # [alternatives]


class Kernels(Protocol):
    """The step of one model: gradients are added up, then descended on, and are left at zero."""

    relation_gradient: Tensor  # [relations, relation_dim]
    """Where the gradient of what is beside the facts is added."""

    def add_fact_gradients(self, facts: Tensor, subjects: Tensor, objects: Tensor) -> Tensor:
        """Add ∇J_F of facts [b, 3] and their corruptions [negatives, b], and return J_F."""

    def add_named_gradients(self, gradient: Tensor) -> None:
        """Add a gradient [named, dim] by the entities that clauses name, after that of the facts."""

    def adagrad_(self, entity_sums: Tensor, relation_sums: Tensor, rate: float) -> None:
        """Take an AdaGrad step, project the entities, and leave the gradients at zero."""


class RowKernels(Protocol):
    """The gradient of the facts of a batch by the rows that it has fetched."""

    def __call__(
        self, rows: Tensor, facts: Tensor, subjects: Tensor, objects: Tensor, relation_gradient: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return J_F and ∇J_F by rows [rows, dim], and add ∇J_F by relations.

        The entities of facts [b, 3] and of corruptions [negatives, b] are places among the rows.
        """


def find_row_kernels(device: torch.device) -> Callable[..., RowKernels] | str:
    """Return what makes kernels for rows on a device, or why there are none."""
    found = find_kernels(device)
    if isinstance(found, str):
        return found
    if device.type == "cpu":
        from clausal.fast.cpu.rows import CPURowKernels

        return CPURowKernels
    from clausal.fast.cuda.rows import CUDARowKernels

    return CUDARowKernels


def find_kernels(device: torch.device) -> Callable[[FusedModel], Kernels] | str:
    """Return what makes kernels for a model on a device, or why there are none."""
    if device.type == "cpu":
        if find_spec("numba") is None:
            return "the fused one needs numba on a CPU: pip install numba"
        from clausal.fast.cpu.step import CPUKernels

        return CPUKernels
    if device.type == "cuda":
        if find_spec("triton") is None:
            return "the fused one needs triton on a GPU, which comes with torch on Linux"
        from clausal.fast.cuda.step import CUDAKernels

        return CUDAKernels
    return f"there are no kernels for the device {device.type}"
