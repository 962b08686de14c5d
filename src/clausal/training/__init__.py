"""Training: fact losses, corruption and the loop of Algorithm 1."""

from typing import Any

from clausal.observer import PassReport
from clausal.training.algorithm import AdversarialSetTraining
from clausal.training.prepare import make_validation, prepare

__all__ = [
    "AdversarialSetTraining",
    "PassReport",
    "make_validation",
    "prepare",
]


def __getattr__(name: str) -> Any:
    """Find what version 0.1 had here."""
    if name == "make_predictor":
        from clausal.moved import moved_name

        return moved_name(__name__, name, "clausal.model.build")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
