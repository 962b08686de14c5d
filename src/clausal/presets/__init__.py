"""Presets: settings chosen for a known table or data set, one TOML file each, by the name of the file."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from clausal.errors import InputError, did_you_mean

BEST = "best"
"""The preset that is no file: ``clausal.search.best_settings`` computes it from a graph and the machine."""
_ENDING = ".toml"


def preset_names() -> list[str]:
    """Return the names of all presets, sorted."""
    found = (entry.name for entry in files(__name__).iterdir())
    return sorted(name.removesuffix(_ENDING) for name in found if name.endswith(_ENDING))


def read_preset(name: str) -> dict[str, Any]:
    """Return the values of a preset by section, to be checked as settings and changed at will."""
    return tomllib.loads(preset_text(name))


def preset_text(name: str) -> str:
    """Return a preset's file, which begins with comments that say what it is for."""
    if name == BEST:
        raise InputError(f"the preset {BEST} is computed from a graph: clausal.search.best_settings(graph, clauses)")
    names = [BEST, *preset_names()]
    if name not in names:
        raise InputError(f"unknown preset '{name}'{did_you_mean(name, names)}; known are {', '.join(names)}")
    return (files(__name__) / f"{name}{_ENDING}").read_text(encoding="utf-8")
