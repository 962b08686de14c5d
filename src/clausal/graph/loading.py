"""Loading: a graph from a folder, from one file or by the name of a known data set; facts over a known vocabulary.

Facts of a file over the vocabulary of a graph, with or without labels, are for the evaluation of a trained model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError, did_you_mean
from clausal.files import enough_memory_to_read
from clausal.graph.assembly import build_graph, look_up
from clausal.graph.catalogue import DATASETS
from clausal.graph.datasets import dataset_folder
from clausal.graph.delimited import Complaint
from clausal.graph.facts import Facts, drop_duplicates, occur_in
from clausal.graph.graph import Graph
from clausal.graph.layout import ENDINGS, parse_columns, stem_and_ending
from clausal.graph.tables import bad_row, read_table
from clausal.graph.vocabulary import Names
from clausal.observer import Observer, replaces

_SPLITS = {"train": "train", "valid": "valid", "validation": "valid", "dev": "valid", "test": "test"}
_LABELS = {"1": True, "+1": True, "true": True, "0": False, "-1": False, "false": False}


@replaces(progress=("advanced", lambda what, done, total, unit: (what, done, total)))
def load_graph(
    source: str | Path,
    *,
    columns: str = "sro",
    valid: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
    observer: Observer | None = None,
) -> Graph:
    """Load a graph from a folder, a file, or a data set's name; a path that exists comes before a name.

    A folder holds the files train, valid (or dev, validation) and test, with any supported ending; further files
    such as ``test-I`` are named parts of test. One file is split at random: ``valid`` and ``test`` are the shares.
    """
    with enough_memory_to_read(source):
        return _load(source, columns, valid, test, seed, observer)


def _load(source: str | Path, columns: str, valid: float, test: float, seed: int, observer: Observer | None) -> Graph:
    path = Path(source)
    if path.is_dir():
        return _load_folder(path, path.resolve().name, columns)
    if path.exists():
        graph = build_graph({"train": read_table(path, parse_columns(columns))}, name=stem_and_ending(path)[0])
        return graph.split(valid=valid, test=test, seed=seed)
    name = str(source).casefold()
    if name in DATASETS:
        return _load_folder(dataset_folder(name, observer), name, "sro")
    raise InputError(
        f"{source}: no such file or folder, and no known data set ({', '.join(DATASETS)})"
        f"{did_you_mean(str(source), DATASETS)}"
    )


def _load_folder(folder: Path, name: str, columns: str) -> Graph:
    fields = parse_columns(columns)
    files = _files_of_facts(folder)
    if "train" not in files:
        found = ", ".join(sorted(entry.name for entry in folder.iterdir())) or "nothing"
        raise InputError(
            f"{folder}: no train file; found {found}; expected train, valid and test, such as train.txt or train.tsv.gz"
        )
    parts = {part: files.pop(part) for part in list(files) if part not in _SPLITS.values()}
    graph = build_graph({split: read_table(path, fields) for split, path in files.items()}, name=name)
    if parts and "test" not in files:
        raise InputError(f"{next(iter(parts.values()))}: a part of test, but {folder} has no test file")
    return replace(graph, parts=_read_parts(parts, fields, graph))


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


def _read_parts(paths: Mapping[str, Path], fields: tuple[str, ...], graph: Graph) -> dict[str, Facts]:
    parts = {}
    sizes = len(graph.entities), len(graph.relations)
    for part, path in paths.items():
        table = read_table(path, fields)
        facts = look_up(table, graph.entities, graph.relations)
        outside = np.asarray((facts < 0).any(axis=1))
        outside[~outside] = ~occur_in(facts[~outside], graph.test, *sizes)
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            example = {field: table.column(field)[row].as_py() for field in fields}
            raise bad_row(path, fields, _not_in_test(example, part, int(outside.sum())), row)
        parts[part] = drop_duplicates(facts, *sizes)
    return parts


def _not_in_test(example: Mapping[str, str], part: str, count: int) -> Complaint:
    names = " ".join(example[field] for field in ("subject", "relation", "object"))
    others = f", nor are {count - 1:,} others" if count > 1 else ""
    message = f"'{names}' is not in test{others}; {part} must be a part of test"
    return lambda row: message if row == example else None


def read_facts(path: str | Path, entities: Names, relations: Names, columns: str = "sro") -> Facts:
    """Read facts whose names are all known, repeated ones dropped; an unknown name is an error."""
    fields = parse_columns(columns)
    with enough_memory_to_read(path):
        facts = _known_facts(Path(path), read_table(Path(path), fields), fields, entities, relations)
        return drop_duplicates(facts, len(entities), len(relations))


def read_labelled(path: str | Path, graph: Graph, columns: str = "sro") -> tuple[Facts, NDArray[np.bool_]]:
    """Read facts with a label in the fourth column: 1 or true, or else 0, -1 or false."""
    with enough_memory_to_read(path):
        return _read_labelled(Path(path), graph, parse_columns(columns, labelled=True))


def _read_labelled(path: Path, graph: Graph, fields: Sequence[str]) -> tuple[Facts, NDArray[np.bool_]]:
    import pyarrow.compute as pc

    table = read_table(path, fields)
    encoded = pc.dictionary_encode(table.column("label")).combine_chunks()
    words = [_LABELS.get(word.strip().casefold()) for word in encoded.dictionary.to_pylist()]
    indices = encoded.indices.to_numpy()
    if None in words:
        row = int(np.isin(indices, [index for index, word in enumerate(words) if word is None]).argmax())
        raise bad_row(path, fields, _label_complaint, row)
    labels = np.array(words, dtype=np.bool_)[indices]
    return _known_facts(path, table, fields, graph.entities, graph.relations), labels


def _known_facts(path: Path, table: Any, fields: Sequence[str], entities: Names, relations: Names) -> Facts:
    facts = look_up(table, entities, relations)
    unknown = (facts < 0).any(axis=1)
    if unknown.any():
        kinds = {"subject": entities, "relation": relations, "object": entities}

        def complaint(row: Mapping[str, str]) -> str | None:
            for field, names in kinds.items():
                if row[field] not in names:
                    return f"unknown {names.kind} '{row[field]}'{names.suggestion(row[field])}"
            return None

        raise bad_row(path, fields, complaint, int(unknown.argmax()))
    return facts


def _label_complaint(row: Mapping[str, str]) -> str | None:
    if row["label"].strip().casefold() in _LABELS:
        return None
    return f"label '{row['label']}'; expected 1 or true for a true fact, 0, -1 or false for a false one"
