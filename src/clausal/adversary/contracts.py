"""A public contract check: what training relies on in an adversary.

Run ``check_adversary(MyAdversary())`` in your tests; a broken promise raises ``ContractError`` and says which.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from clausal.adversary.adversary import AdversarialSet, Adversary, GroupSet, from_tensors, to_tensors
from clausal.adversary.clauses import ClauseGroup, group_clauses
from clausal.graph.vocabulary import Names
from clausal.model.contracts import ContractError
from clausal.model.domains import Cube
from clausal.model.encoders import Table
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.complex import ComplEx

_CLAUSES = (
    "p(X, Y) => q(X, Y)",
    "q(X, Y) => p(X, Y)",
    "p(X, Y) => q(Y, X)",
    "p(X, Y), q(Y, Z) => r(X, Z)",
    "p(X, a) => r(X, X)",
)


def check_adversary(
    adversary: Adversary, predictor: LinkPredictor | None = None, groups: Sequence[ClauseGroup] | None = None
) -> None:
    """Check that ``adversary`` finds a set for each group of clauses and has a loss on it that a model can learn from.

    It is tried on a small ComplEx and five clauses, unless a predictor and groups of clauses are given.
    """
    if not isinstance(adversary, Adversary):
        raise ContractError("an adversary must be a subclass of clausal.Adversary")
    if predictor is None or groups is None:
        predictor, groups = _example()
    clauses = sum(map(len, groups))
    before = {name: tensor.clone() for name, tensor in predictor.state_dict().items()}
    found = adversary.find(predictor, groups, _generator(predictor))
    if any(not torch.equal(tensor, before[name]) for name, tensor in predictor.state_dict().items()):
        raise ContractError("find changed the parameters of the model; it may only look at them")
    _check_set(found, groups)
    again = adversary.find(predictor, groups, _generator(predictor))
    for (name, one), other in zip(to_tensors(found).items(), to_tensors(again).values(), strict=True):
        if not torch.equal(one, other):
            raise ContractError(f"find must draw from the generator alone; two calls with equal ones differ in {name}")
    inconsistency = adversary.inconsistency(predictor, groups, found)
    _check_inconsistency(inconsistency, clauses)
    gradients = torch.autograd.grad(inconsistency.sum(), list(predictor.parameters()), allow_unused=True)
    if any(gradient is not None and not gradient.isfinite().all() for gradient in gradients):
        raise ContractError("inconsistency has a gradient that is not finite")
    by_group = [adversary.inconsistency(predictor, [group], [one]) for group, one in zip(groups, found, strict=True)]
    _require_equal("inconsistency of groups one by one and together", torch.cat(by_group), inconsistency)
    restored = from_tensors(to_tensors(found))
    _require_equal(
        "inconsistency on a set that was saved and restored",
        adversary.inconsistency(predictor, groups, restored),
        inconsistency,
    )


def _check_set(found: AdversarialSet, groups: Sequence[ClauseGroup]) -> None:
    if not isinstance(found, Sequence) or len(found) != len(groups):
        kind = f"{len(found)} sets" if isinstance(found, Sequence) else type(found).__name__
        raise ContractError(f"find must return a GroupSet for each of the {len(groups)} groups; got {kind}")
    for one in found:
        if not isinstance(one, GroupSet):
            raise ContractError(f"find must return GroupSets, such as Vectors; got {type(one).__name__}")
        for name, tensor in one.tensors().items():
            if tensor.requires_grad:
                raise ContractError(
                    f"{type(one).__name__}.{name} must be detached; it stays the same until the next search"
                )
            if not tensor.isfinite().all():
                raise ContractError(f"{type(one).__name__}.{name} has values that are not finite")


def _check_inconsistency(inconsistency: Tensor, clauses: int) -> None:
    shape = list(inconsistency.shape) if isinstance(inconsistency, Tensor) else type(inconsistency).__name__
    if shape != [clauses]:
        raise ContractError(f"inconsistency must have shape [{clauses}], one number for each clause; got {shape}")
    if not inconsistency.isfinite().all() or (inconsistency < 0).any():
        raise ContractError("inconsistency must be finite and not negative: 0 where a clause is not violated")
    if not inconsistency.requires_grad:
        raise ContractError("inconsistency has no gradient; it must be differentiable in the parameters of the model")


def _require_equal(what: str, one: Tensor, other: Tensor) -> None:
    if not torch.allclose(one, other, rtol=1e-4, atol=1e-6):
        raise ContractError(f"{what} must agree; they differ by {(one - other).abs().max().item():.3g}")


def _generator(predictor: LinkPredictor) -> torch.Generator:
    return torch.Generator(predictor.device).manual_seed(0)


def _example() -> tuple[LinkPredictor, list[ClauseGroup]]:
    from clausal.logic.parser import parse_clause

    predictor = LinkPredictor(Table(6, 8), ComplEx(8), num_entities=6, num_relations=3, domain=Cube())
    predictor.reset_parameters(torch.Generator().manual_seed(0))
    clauses = [parse_clause(text) for text in _CLAUSES]
    return predictor, group_clauses(clauses, Names(list("abcdef"), "entity"), Names(list("pqr"), "relation"))
