"""What commands read: graphs and clause files, by path or by the name of a known data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from clausal.cli.output import say
from clausal.cli.progress import download_progress
from clausal.errors import InputError

if TYPE_CHECKING:
    from clausal.graph import Graph
    from clausal.logic import Clause


def read_graph(source: str, *, columns: str, valid: float, test: float, seed: int) -> Graph:
    """Load a graph and say what was found."""
    from clausal.graph import load_graph

    with download_progress() as progress:
        graph = load_graph(source, columns=columns, valid=valid, test=test, seed=seed, progress=progress)
    say(graph.summary())
    for note in graph.notes:
        say(f"note: {note}")
    return graph


def read_clauses(source: str | None, format: str | None = None, folder: Path | None = None) -> list[Clause]:
    """Read a file of clauses or rules; ``fb122`` and ``fb122-simple`` name the clauses that come with a data set.

    ``folder`` may hold the dictionary of relations for a format that writes ids and has none beside its file.
    """
    from clausal.logic import read_rules
    from clausal.logic.formats.rnnlogic import read_dictionary

    if source is None:
        return []
    path = locate_clauses(source)
    names = None
    if folder is not None and folder.is_dir() and path.parent.is_dir():
        names = read_dictionary(path.parent) or read_dictionary(folder)
    return read_rules(path, format, names=names, tell=lambda sentence: say(f"note: {sentence}"))


def locate_clauses(source: str) -> Path:
    """Return the path of a clause file, which may be given by the name of the data set that it comes with."""
    from clausal.graph import DATASETS, dataset_clauses

    name = source.removesuffix("-simple")
    if name in DATASETS and not Path(source).exists():
        with download_progress() as progress:
            path = dataset_clauses(name, simple=name != source, progress=progress)
        if path is None:
            raise InputError(f"the data set {name} comes without clauses; give a file of clauses")
        return path
    return Path(source)
