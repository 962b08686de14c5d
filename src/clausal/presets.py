"""Presets: settings for a known table or data set, one TOML file each, by the name of the file.

Installed packages bring them by an entry point of the group ``clausal.presets``, whose value is a package that holds
the files, as ``clausal_paper.presets`` does.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from clausal.errors import InputError, did_you_mean

BEST = "best"
"""The preset that is no file: ``clausal.search.best_settings`` computes it from a graph and the machine."""
_GROUP = "clausal.presets"
_ENDING = ".toml"


def preset_names() -> list[str]:
    """Return the names of all presets, sorted."""
    return sorted(_find()[0])


def read_preset(name: str) -> dict[str, Any]:
    """Return the values of a preset by section, to be checked as settings and changed at will."""
    if name == BEST:
        raise InputError(f"the preset {BEST} is computed from a graph: clausal.search.best_settings(graph, clauses)")
    found, problems = _find()
    names = [BEST, *sorted(found)]
    if name not in found:
        known = f"unknown preset '{name}'{did_you_mean(name, names)}; known are {', '.join(names)}"
        raise InputError("; ".join([known, *problems]))
    try:
        return tomllib.loads(found[name].read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"preset {name}: cannot be read: {error}") from None


def _find() -> tuple[dict[str, Traversable], list[str]]:
    """Return the files of all presets by name, and which packages of presets cannot be looked into."""
    found: dict[str, Traversable] = {}
    problems = []
    for plugin in entry_points(group=_GROUP):
        try:
            entries = list(files(plugin.value).iterdir())
        except Exception as error:  # another package's code: whatever it raises, the other presets are there
            problems.append(f"the presets of '{plugin.name}' cannot be read: {type(error).__name__}: {error}")
            continue
        for entry in entries:
            if entry.name.endswith(_ENDING):
                found.setdefault(entry.name.removesuffix(_ENDING), entry)
    return found, problems
