"""Settings from a preset, a file and single changes; the preset ``best`` looks at the graph and the machine first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clausal.cli.inputs import read_graph
from clausal.errors import InputError

if TYPE_CHECKING:
    from clausal.config import Settings
    from clausal.graph import Graph
    from clausal.logic import Clause

BEST = "best"


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

    best = preset == BEST
    settings = _on_best(config, assignments) if best else Settings.load(config, assignments, preset=preset)
    graph = read_graph(source, columns=columns, valid=valid, test=test, seed=settings.train.seed)
    if best:
        from clausal.search.rule import best_values

        values = best_values(graph, clauses, settings.train.device)
        settings = Settings.load(config, assignments, preset=values)
    return graph, settings


def _on_best(config: Path | None, assignments: Sequence[str]) -> Settings:
    """Check changes of the preset ``best``, whose kind of training only the graph decides."""
    from clausal.config import Settings
    from clausal.search.rule import values_of_both_kinds

    against_all, against_corruptions = values_of_both_kinds()
    try:
        return Settings.load(config, assignments, preset=against_all)
    except InputError:
        return Settings.load(config, assignments, preset=against_corruptions)
