"""Shapes of tensors at the public seams, checked in every test: what a method takes and returns, by parameter name.

``check_shapes`` wraps the methods below on all classes of the library that have them. [b, dim] is written "b dim". A
name that is an attribute of the object, such as ``dim``, must have its value; another has one value within a call.
"..." is any number of leading dimensions, which must broadcast with those of the other arguments to those returned.

This is a plugin of a page because annotations that are checked (jaxtyping with beartype) would have to be importable
where the library runs, and would make both its dependencies.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor


class ShapeError(AssertionError):
    """A tensor at a public seam has a shape that the method does not promise."""


@dataclass(frozen=True)
class Shapes:
    """The shapes of a method's tensors by parameter, and of its result; ``sizes`` computes names from arguments."""

    takes: dict[str, str]
    returns: str
    sizes: dict[str, Callable[[dict[str, Any]], int]] = field(default_factory=dict)


SCORES_OF_IDS = {
    "score": Shapes({"subjects": "...", "relations": "...", "objects": "..."}, "..."),
    "score_objects": Shapes({"subjects": "b", "relations": "b"}, "b num_entities"),
    "score_subjects": Shapes({"relations": "b", "objects": "b"}, "b num_entities"),
}
VECTORS = {"subject": "... dim", "relation": "... relation_dim", "object": "... dim", "pair": "... dim"}

SEAMS: dict[str, dict[str, Shapes]] = {
    "clausal.model.scorers.base:Scorer": {
        "score": Shapes(VECTORS, "..."),
        "score_objects": Shapes({"subject": "b dim", "relation": "b relation_dim", "candidates": "n dim"}, "b n"),
        "score_subjects": Shapes({"candidates": "n dim", "relation": "b relation_dim", "object": "b dim"}, "b n"),
        "object_query": Shapes(VECTORS, "... dim"),
        "subject_query": Shapes(VECTORS, "... dim"),
        "blocks": Shapes(VECTORS, "... components size size"),
        "components": Shapes({"vectors": "... dim"}, "... components size"),
        "join": Shapes({"components": "... components size"}, "... dim"),
    },
    "clausal.model.predictor:LinkPredictor": SCORES_OF_IDS,
    "clausal.evaluation.entailed:EntailedFirst": SCORES_OF_IDS,
    "clausal.adversary:Semantics": {
        "violation": Shapes({"scores": "... atoms"}, "..."),
        "value": Shapes({"scores": "... atoms"}, "..."),
    },
    "clausal.adversary:Adversary": {
        "inconsistency": Shapes(
            {}, "clauses", {"clauses": lambda call: sum(len(group.clauses) for group in call["groups"])}
        ),
    },
    "clausal.training.losses:FactLoss": {
        # [b] and [negatives, b]; of reciprocal models, which have two directions, [2, 1, b] and [2, negatives, b]
        "__call__": Shapes({"positive": "... b", "negative": "... b", "weights": "... b"}, ""),
    },
}
"""The methods that are checked, on a class and on all that inherit from it."""


def check_shapes() -> None:
    """Check the seams of all modules that are loaded by now; to be called again when more may be."""
    for place, methods in SEAMS.items():
        module, name = place.split(":")
        if module in sys.modules:
            for kind in _with_subclasses(getattr(sys.modules[module], name)):
                if kind.__module__.split(".")[0] in ("clausal", "clausal_paper"):
                    check_class(kind, methods)


def check_class(kind: type, methods: dict[str, Shapes]) -> None:
    """Check the methods that a class itself defines; what it inherits is checked where it is defined."""
    for name, shapes in methods.items():
        method = vars(kind).get(name)
        if inspect.isfunction(method) and not is_checked(method):
            setattr(kind, name, _checked(method, shapes))


def is_checked(method: Callable[..., Any]) -> bool:
    """Tell whether the shapes of a method are checked."""
    return getattr(method, "checks_shapes", False)


def _with_subclasses(kind: type) -> Iterator[type]:
    yield kind
    for other in kind.__subclasses__():
        yield from _with_subclasses(other)


def _checked(method: Callable[..., Any], shapes: Shapes) -> Callable[..., Any]:
    names = list(inspect.signature(method).parameters)

    @functools.wraps(method)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return method(*args, **kwargs)
        call = {**dict(zip(names, args, strict=False)), **kwargs}
        sizes = {name: size(call) for name, size in shapes.sizes.items()}
        shape = _Call(f"{type(args[0]).__name__}.{method.__name__}", args[0], sizes)
        for name, expected in shapes.takes.items():
            if isinstance(call.get(name), Tensor):
                shape.check(name, call[name], expected)
        result = method(*args, **kwargs)
        shape.check("the result", result, shapes.returns, is_result=True)
        return result

    checked.checks_shapes = True  # type: ignore[attr-defined]
    return checked


class _Call:
    """One call: the sizes that names have in it, and the leading dimensions of its arguments."""

    def __init__(self, method: str, owner: object, sizes: dict[str, int]) -> None:
        self.method = method
        self.owner = owner
        self.sizes = sizes
        self.leading: torch.Size | None = None

    def check(self, name: str, tensor: Tensor, expected: str, is_result: bool = False) -> None:
        """Compare a tensor's shape with what is expected of it."""
        dimensions = expected.split()
        any_leading = dimensions[:1] == ["..."]
        dimensions = dimensions[any_leading:]
        split = tensor.dim() - len(dimensions)
        if split < 0 or (split and not any_leading):
            self._refuse(name, tensor, expected)
        if any(self._size(one, size) != size for one, size in zip(dimensions, tensor.shape[split:], strict=True)):
            self._refuse(name, tensor, expected)
        if any_leading:
            self._check_leading(name, tensor, expected, tensor.shape[:split], is_result)

    def _size(self, name: str, found: int) -> int:
        attribute = getattr(self.owner, name, None)
        return attribute if isinstance(attribute, int) else self.sizes.setdefault(name, found)

    def _check_leading(self, name: str, tensor: Tensor, expected: str, leading: torch.Size, is_result: bool) -> None:
        if is_result:
            fits = self.leading is None or leading == self.leading
        else:
            try:
                self.leading, fits = torch.broadcast_shapes(self.leading or (), leading), True
            except RuntimeError:
                fits = False
        if not fits:
            self._refuse(name, tensor, f"{expected}, with ... = {list(self.leading or ())}")

    def _refuse(self, name: str, tensor: Tensor, expected: str) -> None:
        known = {one: value for one in expected.split() if isinstance(value := getattr(self.owner, one, None), int)}
        values = ", ".join(f"{one} = {value}" for one, value in {**self.sizes, **known}.items())
        raise ShapeError(f"{self.method}: {name} has shape {list(tensor.shape)}, not [{expected}] ({values})")
