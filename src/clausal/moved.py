"""Names that version 0.1 had elsewhere: they still import, with a warning that says where they are now.

A finder at the end of ``sys.meta_path`` is asked for modules that no longer exist. What it finds has no code of its
own: each of its names is looked up in the new place.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_ADVERSARY = (
    "POOLINGS SEMANTICS AdversarialSet Adversary Certificate ClauseGroup ClosedForm GradientAscent RealEntities "
    "Semantics by_clause certify group_clauses readings_of without_closed_form"
)
_KERNELS = "BoundSets Forms FusedModel Kernels find_kernels"

MOVED: dict[str, dict[str, str]] = {
    "clausal.consistency": dict.fromkeys(_ADVERSARY.split(), "clausal.adversary"),
    "clausal.kernels": dict.fromkeys(_KERNELS.split(), "clausal.fast.kernels")
    | {
        "Terms": "clausal.model.scorers.base",
        "Projection": "clausal.model.domains",
    },
    "clausal.training.train": {
        "find_device": "clausal.model.build",
        "make_adversary": "clausal.adversary",
        "make_certification": "clausal.training.prepare",
        "make_predictor": "clausal.model.build",
        "make_semantics": "clausal.adversary",
        "make_validation": "clausal.training",
        "prepare": "clausal.training",
    },
    "clausal.training.steps": {"Step": "clausal.training.step"},
}
"""The new module of each public name of modules that are gone."""

PACKAGES = {"clausal.experiments": "clausal_paper", "clausal.experiments.demo": "clausal.demo"}
"""Packages that have moved with all their modules."""


def moved_name(module: str, name: str, home: str, stacklevel: int = 2) -> Any:
    """Return what was ``module.name`` from its new home, with a warning to whoever asks for it."""
    warnings.warn(f"{module}.{name} has moved: import it from {home}", DeprecationWarning, stacklevel=stacklevel + 1)
    return getattr(import_module(home), name)


def _new_home(module: str) -> str | None:
    """Return where a whole module has moved to, if that is there."""
    for old, new in sorted(PACKAGES.items(), key=lambda pair: -len(pair[0])):
        if module == old or module.startswith(f"{old}."):
            home = new + module.removeprefix(old)
            try:
                return home if find_spec(home) else None
            except ModuleNotFoundError:  # its parent is gone too
                return None
    return None


class _Loader(Loader):
    """Makes a module whose names are looked up elsewhere."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__

        def look_up(attribute: str) -> Any:
            home = MOVED[name].get(attribute) if name in MOVED else _new_home(name)
            if home is None or attribute.startswith("__"):
                raise AttributeError(f"module '{name}' of version 0.1 is gone, and '{attribute}' has no successor")
            return moved_name(name, attribute, home)

        module.__getattr__ = look_up  # type: ignore[method-assign]


class _Finder(MetaPathFinder):
    """Finds the modules of version 0.1 that are gone."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("clausal.") or (fullname not in MOVED and _new_home(fullname) is None):
            return None
        return ModuleSpec(fullname, _Loader(), is_package=True)


def install() -> None:
    """Let Python ask the finder, after all others, for what it cannot find."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
