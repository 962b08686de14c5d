"""The preset ``best``: settings computed from the size of a graph and the machine, without a search.

``docs/how-to/search.md`` states the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clausal.config import Settings
from clausal.graph.graph import Graph
from clausal.logic.syntax import Clause
from clausal.search.machine import this_machine

BEST = "best"
_DIMS = (32, 64, 128, 256, 512, 1024, 2048)
_BYTES = 4 * 4  # a parameter, its gradient, AdaGrad's accumulator and the best model so far


def best_settings(graph: Graph, clauses: Sequence[Clause] = (), device: str = "auto") -> Settings:
    """Return the settings of the preset ``best`` for a graph on this machine."""
    return Settings.from_mapping(best_values(graph, clauses, device), f"preset {BEST}")


def best_values(graph: Graph, clauses: Sequence[Clause] = (), device: str = "auto") -> dict[str, Any]:
    """Return the same as values by section, to be changed by a user's own."""
    values: dict[str, Any] = {
        "model": {"scorer": "complex", "dim": min(256, _largest_dim(graph, device)), "domain": "cube"},
        "facts": {"loss": "hinge", "margin": 5.0},
        "train": {"epochs": 50},
        "evaluate": {"every": 2},
    }
    if clauses:
        values["clauses"] = {"adversary": "closed-form"}
    return values


def largest_dim(graph: Graph, settings: Settings) -> int:
    """Return the largest dimension of entities that half of the machine's memory holds a training of."""
    return _largest_dim(graph, settings.train.device)


def _largest_dim(graph: Graph, device: str) -> int:
    room = this_machine(device).memory // 2
    return max((dim for dim in _DIMS if len(graph.entities) * dim * _BYTES <= room), default=_DIMS[0])
