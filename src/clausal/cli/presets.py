"""Settings from a preset, a file and single changes; the preset ``best`` looks at the graph and the machine first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clausal.cli.inputs import read_clauses, read_graph
from clausal.cli.unknown import fitting
from clausal.errors import InputError
from clausal.presets import BEST

if TYPE_CHECKING:
    from clausal.cli.unknown import Unknown
    from clausal.config import Settings
    from clausal.graph import Graph
    from clausal.logic import Clause


def read_graph_and_settings(
    source: str,
    clause_source: str | None,
    unknown: Unknown | None,
    preset: str | Mapping[str, Mapping[str, Any]] | None,
    config: Path | None,
    assignments: Sequence[str],
    *,
    valid: float | None,
    test: float | None,
    split_seed: int | None,
) -> tuple[Graph, list[Clause], Settings]:
    """Read a graph, the clauses that fit it, and the settings to train with, which are checked before a large graph.

    Clauses are read before the graph too, so that a mistake in them is seen soon. ``preset`` is a name, or settings.
    """
    from clausal.config import Settings

    clauses = read_clauses(clause_source)
    if preset != BEST:
        settings = Settings.load(config, assignments, preset=preset)
        graph = read_graph(source, valid=valid, test=test, split_seed=split_seed)
        return graph, fitting(clause_source, clauses, graph, unknown), settings

    from clausal.search.best import best_values, possible_values

    settings = _first_that_fits(possible_values(bool(clauses)), config, assignments)
    graph = read_graph(source, valid=valid, test=test, split_seed=split_seed)
    clauses = fitting(clause_source, clauses, graph, unknown)
    values = best_values(graph, clauses, settings.train.device)
    unsmoothed = values | {"facts": {**values["facts"], "label_smoothing": 0.0}}  # as corruptions have to be
    return graph, clauses, _first_that_fits([values, unsmoothed], config, assignments)


def _first_that_fits(presets: Sequence[Mapping[str, Any]], config: Path | None, assignments: Sequence[str]) -> Settings:
    """Return the user's changes on top of the first preset that allows them; the first one's error if none does."""
    from clausal.config import Settings

    try:
        return Settings.load(config, assignments, preset=presets[0])
    except InputError:
        for other in presets[1:]:
            with suppress(InputError):
                return Settings.load(config, assignments, preset=other)
        raise


def given_settings(config: Path | None, assignments: Sequence[str]) -> list[str]:
    """Return the names of the settings that a file and ``--set`` give, such as ``model.dim``."""
    from clausal.config import read_settings_file

    names = [assignment.partition("=")[0].strip() for assignment in assignments]
    values = read_settings_file(config) if config else {}
    return names + [f"{section}.{name}" for section, own in values.items() for name in own]
