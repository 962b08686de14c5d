"""Loading: a graph from a folder, files, a database, Python or by the name of a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clausal.errors import InputError, did_you_mean
from clausal.files import enough_memory_to_read
from clausal.graph.addresses import is_database, public
from clausal.graph.assembly import build_graph
from clausal.graph.catalogue import DATASETS
from clausal.graph.columns import Columns, parse_columns
from clausal.graph.databases import read_database
from clausal.graph.datasets import dataset_folder
from clausal.graph.graph import Graph
from clausal.graph.layout import ENDINGS, stem_and_ending
from clausal.graph.lookup import read_parts
from clausal.graph.python_triples import table_of_triples
from clausal.graph.rdf import RDF_ENDINGS, BlankNodes, Literals, RdfOptions, Statements, join_statements, read_rdf
from clausal.graph.rdf.statements import FACT_COLUMNS
from clausal.graph.tables import read_table
from clausal.observer import Observer, replaces

_SPLITS = {"train": "train", "valid": "valid", "validation": "valid", "dev": "valid", "test": "test"}
_MOST_FILES_SHOWN = 10


@replaces(progress=("advanced", lambda what, done, total, unit: (what, done, total)))
def load_graph(
    source: Any,
    *,
    columns: str | Sequence[str] = "sro",
    header: str = "auto",
    query: str | None = None,
    valid: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
    literals: Literals = "skip",
    blank_nodes: BlankNodes = "skip",
    base: str | None = None,
    observer: Observer | None = None,
) -> Graph:
    """Load a graph from a folder, files, a database, a data set's name, or what ``Graph.from_triples`` takes.

    A folder holds the files train, valid (or dev, validation) and test, with any supported ending; further files
    such as ``test-I`` are named parts of test. A folder of RDF files without these, and a list of files, are one graph.
    Everything but a folder of splits is split at random: ``valid`` and ``test`` are the shares. A path that exists
    comes before a name.
    ``columns`` is the order of columns without names, or the names of three; ``header="no"`` says that every line of a
    text file is a fact. A database is given as ``duckdb:FILE``, ``sqlite:FILE`` or ``postgresql://HOST/NAME``, and
    ``query`` selects its facts.

    Of RDF, literals are kept aside in ``Graph.literals``, and statements about blank nodes are left out, unless
    ``literals`` and ``blank_nodes`` say otherwise; ``base`` makes relative IRIs whole. See ``RdfOptions``.
    """
    reading = _Reading(parse_columns(columns, header), RdfOptions(literals, blank_nodes, base), observer)
    named = isinstance(source, (str, Path))
    if query is not None and not (named and is_database(source)):
        raise InputError("a query needs a database: duckdb:FILE, sqlite:FILE or postgresql://HOST/NAME")
    with enough_memory_to_read(public(source) if named else type(source).__name__):
        return _load(source, query, reading, lambda graph: graph.split(valid=valid, test=test, seed=seed))


@dataclass(frozen=True)
class _Reading:
    """How files are read, whatever they hold."""

    columns: Columns
    rdf: RdfOptions
    observer: Observer | None

    def statements(self, path: Path, notes: list[str], *, scope: str | None = None, number: int = 0) -> Statements:
        """Return what a file says; what a user should know of a table is added to ``notes``."""
        if stem_and_ending(path)[1] in RDF_ENDINGS and path.exists():
            return read_rdf(path, self.rdf, scope=scope, number=number, observer=self.observer)
        return Statements(read_table(path, self.columns, notes.append).select(FACT_COLUMNS))


def _load(source: Any, query: str | None, reading: _Reading, split: Callable[[Graph], Graph]) -> Graph:
    if _are_files(source):
        return split(_load_files([Path(one) for one in source], reading))
    if not isinstance(source, (str, Path)) or is_database(source):
        return split(_load_table(source, query, reading.columns))
    path = Path(source)
    if path.is_dir():
        files = _files_of_facts(path)
        documents = [] if files else _rdf_files(path)
        if documents:
            return split(_load_files(documents, reading, folder=path))
        return _load_folder(path, files, path.resolve().name, reading)
    if path.exists():
        return split(_load_files([path], reading))
    folder = _known_folder(str(source), reading.observer)
    usual = replace(reading, columns=Columns())
    return _load_folder(folder, _files_of_facts(folder), str(source).casefold(), usual)


def _are_files(source: Any) -> bool:
    """Say whether a source is a list of paths; a list of anything else holds facts."""
    listed = isinstance(source, Sequence) and not isinstance(source, (str, bytes))
    return listed and all(isinstance(one, (str, Path)) for one in source)


def _load_table(source: Any, query: str | None, columns: Columns) -> Graph:
    """Load the facts of a database, or those that Python has."""
    notes: list[str] = []
    origin = {}
    if isinstance(source, (str, Path)):
        table, name = read_database(str(source), query, columns, notes.append)
        origin = {"address": public(source)} | ({} if query is None else {"query": public(query)})
    else:
        table, name = table_of_triples(source, columns, "facts", notes.append), "graph"
    return replace(build_graph({"train": table}, name=name, notes=notes), source=origin)


def _known_folder(source: str, observer: Observer | None) -> Path:
    """Return the folder of a data set that is given by its name."""
    name = source.casefold()
    if name not in DATASETS:
        raise InputError(
            f"{public(source)}: no such file or folder, and no known data set ({', '.join(DATASETS)})"
            f"{did_you_mean(source, DATASETS)}"
        )
    return dataset_folder(name, observer)


def _load_files(paths: Sequence[Path], reading: _Reading, folder: Path | None = None) -> Graph:
    """Load one graph of all facts of some files; blank nodes of two files are never the same."""
    if not paths:
        raise InputError("an empty list of files, or of facts; give at least one")
    several = len(paths) > 1
    notes: list[str] = []
    if several:
        shown = ", ".join(path.name for path in paths[:_MOST_FILES_SHOWN])
        more = f" and {len(paths) - _MOST_FILES_SHOWN:,} more" if len(paths) > _MOST_FILES_SHOWN else ""
        notes.append(f"{len(paths):,} files are one graph: {shown}{more}")
    read = [
        reading.statements(path, notes, number=number if several else 0) for number, path in enumerate(paths, start=1)
    ]
    where = str(paths[0]) if not several else f"{paths[0].parent}: {len(paths)} files"
    name = stem_and_ending(paths[0])[0] if folder is None else folder.resolve().name
    graph = _graph_of({"train": join_statements(read)}, {"train": where}, name, notes)
    return replace(graph, source={"address": ", ".join(map(str, paths)) if folder is None else str(folder)})


def _load_folder(folder: Path, files: dict[str, Path], name: str, reading: _Reading) -> Graph:
    """Load the splits of a folder; blank nodes of the same label are the same in all of them."""
    if "train" not in files:
        found = ", ".join(sorted(entry.name for entry in folder.iterdir())) or "nothing"
        raise InputError(
            f"{folder}: no train file; found {found}; expected train, valid and test, such as train.txt or "
            "train.tsv.gz, or files of RDF, such as facts.ttl"
        )
    notes: list[str] = []
    parts = {part: files.pop(part) for part in list(files) if part not in _SPLITS.values()}
    read = {split: reading.statements(path, notes, scope=name) for split, path in files.items()}
    graph = _graph_of(read, {split: str(path) for split, path in files.items()}, name, notes)
    if parts and "test" not in files:
        raise InputError(f"{next(iter(parts.values()))}: a part of test, but {folder} has no test file")
    return replace(graph, parts=read_parts(parts, reading.columns, graph), source={"address": str(folder)})


def _graph_of(read: Mapping[str, Statements], paths: Mapping[str, str], name: str, notes: Sequence[str]) -> Graph:
    """Make a graph of the statements of each split; ``paths`` name where they come from."""
    for split, statements in read.items():
        if statements.facts.num_rows == 0:
            left_out = "; ".join(note for note in statements.notes())
            raise InputError(f"{paths[split]}: the file holds no facts{f': {left_out}' if left_out else ''}")
    together = join_statements(list(read.values()))
    tables = {split: statements.facts for split, statements in read.items()}
    graph = build_graph(tables, name=name, notes=[*notes, *together.notes()])
    return replace(graph, prefixes=together.prefixes, literals=together.literals)


def _rdf_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and stem_and_ending(path)[1] in RDF_ENDINGS)


def _files_of_facts(folder: Path) -> dict[str, Path]:
    """Return the folder's files by split or part; files that are neither, such as clauses, are left alone."""
    files: dict[str, Path] = {}
    for path in sorted(entry for entry in folder.iterdir() if entry.is_file()):
        stem, ending = stem_and_ending(path)
        split = _SPLITS.get(stem) or (stem if stem.startswith("test-") else None)
        if split is None or ending not in ENDINGS:
            continue
        if split in files:
            raise InputError(f"{folder}: both {files[split].name} and {path.name} are {split}; keep one of them")
        files[split] = path
    return files
