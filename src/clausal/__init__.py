"""Neural link prediction that obeys your clauses.

>>> import clausal
>>> graph = clausal.load_graph("fb122")
>>> run = clausal.train(graph, clauses=clausal.read_clauses("clauses.pl"))
>>> run.predict("capital_of(?, france)")
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

# torch reads this when it first takes memory on Linux: large tables in large pages, as the rows of a batch are all over
# the table and each miss of a small page costs as much as the row.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

if TYPE_CHECKING:
    from clausal.config import Settings
    from clausal.errors import ClausalError, InputError, RunError
    from clausal.graph import Graph, load_graph
    from clausal.logic import Clause, parse_clause, parse_clauses, read_clauses
    from clausal.model import check_encoder, check_scorer
    from clausal.run import Answer, Explanation, Run, load, resume, train

_HOMES = {
    "clausal.config": ("Settings",),
    "clausal.errors": ("ClausalError", "InputError", "RunError"),
    "clausal.graph": ("Graph", "load_graph"),
    "clausal.logic": ("Clause", "parse_clause", "parse_clauses", "read_clauses"),
    "clausal.model": ("check_encoder", "check_scorer"),
    "clausal.run": ("Answer", "Explanation", "Run", "load", "resume", "train"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Answer",
    "ClausalError",
    "Clause",
    "Explanation",
    "Graph",
    "InputError",
    "Run",
    "RunError",
    "Settings",
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


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that ``import clausal`` does not import torch."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'clausal' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)
