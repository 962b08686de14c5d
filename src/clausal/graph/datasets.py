"""Known data sets on this machine: in the user's folder, else in the cache, which downloads what it lacks."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from clausal.errors import InputError, did_you_mean
from clausal.graph.catalogue import DATASETS, DataSet
from clausal.graph.download import Progress
from clausal.graph.publisher import obtain


def dataset_folder(name: str, progress: Progress | None = None) -> Path:
    """Return the folder that holds a data set's files; those that are nowhere here are downloaded."""
    dataset = _dataset(name)
    own = _own_folder(dataset)
    if own is not None and any(own.glob("train*")):
        return own
    cached = cache_folder() / dataset.name
    for file in dataset.files:
        obtain(file, cached, progress)
    shutil.rmtree(cached / ".downloads", ignore_errors=True)  # the archives have given all their members
    return cached


def dataset_clauses(name: str, simple: bool = False, progress: Progress | None = None) -> Path | None:
    """Return the clause file that comes with a data set, or None; ``simple``: only one-atom bodies."""
    dataset = _dataset(name)
    wanted = dataset.simple_clauses if simple else dataset.clauses
    if wanted is None:
        return None
    own = _own_folder(dataset)
    if own is not None and (own / wanted).is_file():
        return own / wanted
    file = next(file for file in dataset.files if file.name == wanted)
    return obtain(file, cache_folder() / dataset.name, progress)


def cache_folder() -> Path:
    """Return the folder that downloads are kept in: ``$XDG_CACHE_HOME/clausal`` or ``~/.cache/clausal``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "clausal"


def _own_folder(dataset: DataSet) -> Path | None:
    base = os.environ.get("CLAUSAL_DATA")
    if not base:
        return None
    if not Path(base).is_dir():
        raise InputError(f"CLAUSAL_DATA names {base}, which is not a folder; expected one that holds {dataset.name}")
    own = Path(base) / dataset.name
    return own if own.is_dir() else None


def _dataset(name: str) -> DataSet:
    try:
        return DATASETS[name.casefold()]
    except KeyError:
        raise InputError(
            f"unknown data set '{name}'; known are {', '.join(DATASETS)}{did_you_mean(name, DATASETS)}"
        ) from None
