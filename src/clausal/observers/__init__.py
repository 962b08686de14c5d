"""Observers that are ready to use: a progress bar for notebooks and programs, and logs of other tools.

>>> from clausal.observers import Progress, TensorBoard
>>> run = clausal.train(graph, clauses, observer=Progress())
>>> run = clausal.train(graph, clauses, observer=TensorBoard("logs"))

Each tool is imported only where its observer is made; it has to be installed. ``Observers(one, other)`` tells several.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from clausal.observer import Observers

if TYPE_CHECKING:
    from clausal.observers.loggers import MLflow, TensorBoard, WandB
    from clausal.observers.progress import Progress

_MODULE_OF = {"MLflow": "loggers", "Progress": "progress", "TensorBoard": "loggers", "WandB": "loggers"}

__all__ = ["MLflow", "Observers", "Progress", "TensorBoard", "WandB"]


def __getattr__(name: str) -> Any:
    """Import observers on first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'clausal.observers' has no attribute {name!r}")
    return getattr(import_module(f"clausal.observers.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """Show the public names."""
    return list(__all__)
