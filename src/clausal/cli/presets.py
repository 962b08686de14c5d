"""Settings from a preset, a file and single changes; the preset ``best`` looks at the graph and the machine first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clausal.cli.inputs import read_graph
from clausal.presets import BEST

if TYPE_CHECKING:
    from clausal.config import Settings
    from clausal.graph import Graph
    from clausal.logic import Clause


def read_graph_and_settings(
    source: str,
    clauses: Sequence[Clause],
    preset: str | None,
    config: Path | None,
    assignments: Sequence[str],
    *,
    columns: str,
    valid: float | None,
    test: float | None,
) -> tuple[Graph, Settings]:
    """Read a graph, and the settings to train on it with; settings are checked before a large graph is read."""
    from clausal.config import Settings

    settings = Settings.load(config, assignments, preset=None if preset == BEST else preset)
    graph = read_graph(source, columns=columns, valid=valid, test=test, seed=settings.train.seed)
    if preset == BEST:
        from clausal.search.rule import best_values

        values = best_values(graph, clauses, settings.train.device)
        settings = Settings.load(config, assignments, preset=values)
    return graph, settings
