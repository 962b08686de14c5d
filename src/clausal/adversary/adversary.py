"""The adversary of Algorithm 1: the adversarial set S that it finds, and the inconsistency loss on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Self

import torch
from torch import Tensor

from clausal.adversary.clauses import ClauseGroup
from clausal.model.predictor import LinkPredictor


@dataclass(frozen=True, eq=False)
class GroupSet:
    """What an adversary found for the clauses of one group.

    A subclass is a dataclass whose fields are tensors, tuples of tensors, or None; so it can be saved and restored.
    """

    kinds: ClassVar[dict[str, type[GroupSet]]] = {}
    """Every kind of set by the name of its class, under which it is saved."""

    def __init_subclass__(cls) -> None:
        GroupSet.kinds[cls.__name__] = cls

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors by field; a field that is None is an empty tensor."""
        named: dict[str, Tensor] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            for name, tensor in _numbered(field.name, value) if isinstance(value, tuple) else [(field.name, value)]:
                named[name] = torch.empty(0) if tensor is None else tensor
        return named

    @classmethod
    def from_tensors(cls, named: Mapping[str, Tensor]) -> Self:
        """Return the set that had these tensors."""
        values: dict[str, Tensor | tuple[Tensor | None, ...] | None] = {}
        for field in fields(cls):
            if field.name in named:
                values[field.name] = _or_none(named[field.name])
            else:
                count = sum(name.startswith(f"{field.name}.") for name in named)
                values[field.name] = tuple(_or_none(named[f"{field.name}.{place}"]) for place in range(count))
        return cls(**values)


@dataclass(frozen=True, eq=False)
class Vectors(GroupSet):
    """Vectors bound to the variables of clauses: what the paper calls S."""

    vectors: Tensor  # [clauses, sets, free slots, dim]

    def features(self, predictor: LinkPredictor, group: ClauseGroup) -> Tensor:
        """Return f with φ_r = ⟨r, f⟩ for each atom and set [clauses, atoms, relation_dim, sets].

        While the discriminator trains, the vectors stay the same, and so do these: for a scorer that is linear in the
        relation, and clauses without constants, they can be computed once.
        """
        by_slot = self.vectors.detach().unbind(2)
        subject, object = (torch.stack([by_slot[slot] for slot in of], 1) for of in group.slots(predictor).positions)
        relation = subject.new_zeros(*subject.shape[:-1], predictor.scorer.relation_dim).requires_grad_()
        with torch.enable_grad():
            # The gradient of what is linear is its features.
            (features,) = torch.autograd.grad(predictor.scorer.score(subject, relation, object).sum(), relation)
        # With the sets last the product with a relation is several times as fast.
        return features.transpose(-1, -2).contiguous()


AdversarialSet = Sequence[GroupSet]
"""S: what was found for each group of clauses, in their order."""


class Adversary(ABC):
    """FindAdversarialSet of Algorithm 1, and the inconsistency loss on what it finds.

    Derive your own from this class, check it with ``clausal.check_adversary`` and give it to ``clausal.train``.
    """

    moves_entities: ClassVar[bool] = False
    """Whether its loss has a gradient by vectors of entities that no clause names."""

    @abstractmethod
    def find(
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> AdversarialSet:
        """Return an adversarial set for the model as it is, a ``GroupSet`` for each group."""

    @abstractmethod
    def inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> Tensor:
        """Return the inconsistency of each clause [clauses], in the order of the groups; weights not applied.

        It is differentiable in the parameters of the predictor.
        """


def to_tensors(adversarial_set: AdversarialSet) -> dict[str, Tensor]:
    """Return the tensors of a set as ``<group>/<kind>/<field>``."""
    return {
        f"{place}/{type(found).__name__}/{name}": tensor
        for place, found in enumerate(adversarial_set)
        for name, tensor in found.tensors().items()
    }


def from_tensors(tensors: Mapping[str, Tensor]) -> AdversarialSet:
    """Return the set that had these tensors."""
    by_group: dict[tuple[int, str], dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        place, kind, name = key.split("/")
        by_group.setdefault((int(place), kind), {})[name] = tensor
    return [GroupSet.kinds[kind].from_tensors(named) for (_, kind), named in sorted(by_group.items())]


def _numbered(name: str, values: Sequence[Tensor | None]) -> list[tuple[str, Tensor | None]]:
    return [(f"{name}.{place}", value) for place, value in enumerate(values)]


def _or_none(tensor: Tensor) -> Tensor | None:
    return tensor if tensor.numel() or tensor.dim() != 1 else None
