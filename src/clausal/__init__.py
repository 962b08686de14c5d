"""Neural link prediction that obeys your clauses.

>>> import clausal
>>> graph = clausal.load_graph("fb122")
>>> run = clausal.train(graph, clauses=clausal.read_clauses("clauses.pl"))
>>> run.predict("capital_of(?, france)")
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from clausal.moved import install as _install_moved

__version__ = "0.2.0"

if sys.platform == "win32":
    warnings.warn(
        "clausal is not supported on Windows, where parts of it fail; use Linux, or the Windows Subsystem for Linux",
        RuntimeWarning,
        stacklevel=2,
    )

# torch reads this when it first takes memory on Linux: large tables in large pages, as the rows of a batch are all over
# the table and each miss of a small page costs as much as the row.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

if TYPE_CHECKING:
    from clausal.adversary import Adversary, check_adversary
    from clausal.config import Settings
    from clausal.errors import ClausalError, InputError, RunError
    from clausal.evaluation import Calibration, Evaluation
    from clausal.graph import Graph, load_graph
    from clausal.logic import Clause, parse_clause, parse_clauses, read_clauses
    from clausal.model import Scorer, check_encoder, check_scorer
    from clausal.observer import Observer, PassReport
    from clausal.run import Answer, Certification, Explanation, Run, load, resume, train

_HOMES = {
    "clausal.adversary": ("Adversary", "check_adversary"),
    "clausal.config": ("Settings",),
    "clausal.errors": ("ClausalError", "InputError", "RunError"),
    "clausal.evaluation": ("Calibration", "Evaluation"),
    "clausal.graph": ("Graph", "load_graph"),
    "clausal.logic": ("Clause", "parse_clause", "parse_clauses", "read_clauses"),
    "clausal.model": ("Scorer", "check_encoder", "check_scorer"),
    "clausal.observer": ("Observer", "PassReport"),
    "clausal.run": ("Answer", "Certification", "Explanation", "Run", "load", "resume", "train"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Adversary",
    "Answer",
    "Calibration",
    "Certification",
    "ClausalError",
    "Clause",
    "Evaluation",
    "Explanation",
    "Graph",
    "InputError",
    "Observer",
    "PassReport",
    "Run",
    "RunError",
    "Scorer",
    "Settings",
    "check_adversary",
    "check_encoder",
    "check_scorer",
    "load",
    "load_graph",
    "parse_clause",
    "parse_clauses",
    "read_clauses",
    "resume",
    "train",
]

_install_moved()  # imports of version 0.1 go on working, with a warning


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that ``import clausal`` does not import torch."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'clausal' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    """Show the public names."""
    return list(__all__)
