"""The run directory: what a training leaves behind, how it is loaded, and what it answers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clausal.run.answers import Answers
    from clausal.run.certification import Certification
    from clausal.run.explanation import Explanation
    from clausal.run.loading import load
    from clausal.run.prediction import Answer
    from clausal.run.run import Run
    from clausal.run.training import resume, train
    from clausal.run.verdicts import ClauseCertificate

_MODULE_OF = {
    "Answer": "prediction",
    "Answers": "answers",
    "Certification": "certification",
    "ClauseCertificate": "verdicts",
    "Explanation": "explanation",
    "Run": "run",
    "load": "loading",
    "resume": "training",
    "train": "training",
}

__all__ = ["Answer", "Answers", "Certification", "ClauseCertificate", "Explanation", "Run", "load", "resume", "train"]


def __getattr__(name: str) -> Any:
    """Import names on first use: a question to a run needs nothing of training, proofs and certificates."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'clausal.run' has no attribute {name!r}")
    return getattr(import_module(f"clausal.run.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """Show the public names."""
    return list(__all__)
