"""The graph inside a run directory: vocabulary and facts as Parquet, so that a run can be used on its own.

What RDF says beside facts is there too, where a graph has it: texts and numbers of entities, and prefixes of IRIs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from clausal.errors import InputError
from clausal.files import atomic_file, enough_memory_to_read, read_json, write_json
from clausal.graph.graph import Facts, Graph, check_part_name, no_facts
from clausal.graph.vocabulary import Names

VOCABULARY = "vocabulary.parquet"
FACTS = "facts.parquet"
LITERALS = "literals.parquet"
PREFIXES = "prefixes.json"

_ROWS_IN_ANY_FILE, _ROWS_PER_BYTE = 1_000_000, 100  # beyond any real graph, to keep memory within bounds
_TEXT_IN_ANY_FILE, _TEXT_PER_BYTE = 1 << 26, 1000
_LITERAL_COLUMNS = ("subject", "property", "value", "language", "datatype")
_MOST_PREFIXES = 10_000


def store_graph(folder: Path, graph: Graph) -> None:
    """Write the names in the order of their ids, and the facts of every split and part as ids."""
    import pyarrow as pa
    from pyarrow import parquet

    kinds = ["entity"] * len(graph.entities) + ["relation"] * len(graph.relations)
    names = pa.table({"kind": kinds, "name": [*graph.entities, *graph.relations]})
    with atomic_file(folder / VOCABULARY) as temporary:
        parquet.write_table(names, temporary, compression="zstd")

    for part in graph.parts:
        check_part_name(part)
    groups = {**graph.splits, **graph.parts}
    rows = np.concatenate(list(groups.values()))
    codes = np.repeat(np.arange(len(groups), dtype=np.int32), [len(facts) for facts in groups.values()])
    facts = pa.table(
        {
            "split": pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(groups))),
            **{name: rows[:, i] for i, name in enumerate(("subject", "relation", "object"))},
        }
    )
    with atomic_file(folder / FACTS) as temporary:
        parquet.write_table(facts, temporary, compression="zstd")

    if graph.literals is not None and len(graph.literals):
        texts = {name: graph.literals[name].cast(pa.string()).fill_null("") for name in _LITERAL_COLUMNS}
        with atomic_file(folder / LITERALS) as temporary:
            parquet.write_table(pa.table(texts), temporary, compression="zstd")
    if graph.prefixes:
        write_json(folder / PREFIXES, dict(graph.prefixes))


def load_stored_graph(folder: Path, name: str) -> Graph:
    """Read what ``store_graph`` wrote, checking names and ids."""
    with enough_memory_to_read(folder):
        return _load(folder, name)


def _load(folder: Path, name: str) -> Graph:
    names = _read(folder / VOCABULARY, {"kind": "string", "name": "string"})
    by_kind: dict[str, list[str]] = {"entity": [], "relation": []}
    for kind, text in zip(names["kind"].to_pylist(), names["name"].to_pylist(), strict=True):
        if kind not in by_kind or not text:
            raise InputError(f"{folder / VOCABULARY}: damaged: a row of kind {kind!r} with name {text!r}")
        by_kind[kind].append(text)
    for kind, found in by_kind.items():
        if len(set(found)) != len(found):
            raise InputError(f"{folder / VOCABULARY}: damaged: the same {kind} name occurs twice")

    table = _read(folder / FACTS, {"split": "string", "subject": "int32", "relation": "int32", "object": "int32"})
    rows = np.stack([_numbers(table[column].combine_chunks()) for column in ("subject", "relation", "object")], 1)
    limits = np.array([len(by_kind["entity"]), len(by_kind["relation"]), len(by_kind["entity"])])
    if ((rows < 0) | (rows >= limits)).any():
        raise InputError(f"{folder / FACTS}: damaged: a fact has an id outside the vocabulary")
    split = table["split"].combine_chunks().dictionary_encode()
    codes = _numbers(split.indices)
    groups: dict[str, Facts] = {
        label: np.ascontiguousarray(rows[codes == code]) for code, label in enumerate(split.dictionary.to_pylist())
    }
    splits = {name: groups.pop(name, no_facts()) for name in ("train", "valid", "test")}
    for part in groups:
        try:
            check_part_name(part)
        except InputError as error:
            raise InputError(f"{folder / FACTS}: damaged: {error}") from None
    return Graph(
        entities=Names(by_kind["entity"], "entity"),
        relations=Names(by_kind["relation"], "relation"),
        train=splits["train"],
        valid=splits["valid"],
        test=splits["test"],
        parts=groups,
        name=name,
        prefixes=_read_prefixes(folder / PREFIXES),
        literals=_read(folder / LITERALS, dict.fromkeys(_LITERAL_COLUMNS, "string"))
        if (folder / LITERALS).exists()
        else None,
    )


def _read_prefixes(path: Path) -> dict[str, str]:
    found = read_json(path) if path.exists() else {}
    if len(found) > _MOST_PREFIXES or not all(isinstance(iri, str) for iri in found.values()):
        raise InputError(f"{path}: damaged: expected prefixes of IRIs by name")
    return found


def _numbers(column: Any) -> Any:
    """Return a column of integers, none missing, as an array; pyarrow's own ``to_numpy`` would import pandas."""
    return np.from_dlpack(column)


def _read(path: Path, columns: dict[str, str]) -> Any:
    """Read a Parquet file that must have exactly these columns, without missing values."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema(list(columns.items()))
    try:
        about = parquet.read_metadata(path)
        if about.num_rows > _ROWS_IN_ANY_FILE + _ROWS_PER_BYTE * path.stat().st_size:
            raise InputError(
                f"{path}: damaged: it claims {about.num_rows:,} rows, more than a file of its size can hold"
            )
        if about.schema.names != list(columns):
            raise InputError(f"{path}: damaged: expected columns {', '.join(columns)}; found {about.schema.names}")
        # A text that is repeated is kept once. The file is read by itself: as a data set, it would import pandas.
        text = [name for name, kind in columns.items() if kind == "string"]
        with parquet.ParquetFile(path, read_dictionary=text) as file:
            table = file.read()
        if "name" in columns and _is_repetitive(table["name"]):
            raise InputError(f"{path}: damaged: the same name occurs again and again")
        if _text_length(table, text) > _TEXT_IN_ANY_FILE + _TEXT_PER_BYTE * path.stat().st_size:
            raise InputError(f"{path}: damaged: the same long texts occur again and again")
        table = table.cast(schema)
        table.validate(full=True)  # text is UTF-8
    except FileNotFoundError:
        raise InputError(f"{path}: missing, the run directory is incomplete") from None
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: damaged: {str(error).splitlines()[0]}") from None
    if any(table[name].null_count for name in columns):
        raise InputError(f"{path}: damaged: it has missing values")
    return table


def _is_repetitive(column: Any) -> bool:
    """Say whether texts occur more than twice on average: names are distinct, up to an entity and a relation alike.

    Such a column is not unfolded: a file of some kilobytes could take gigabytes.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return False
    return len(column) > 2 * sum(len(chunk.dictionary) for chunk in column.chunks)


def _text_length(table: Any, columns: list[str]) -> int:
    """Return how many bytes the texts of columns take once those that are repeated are written out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = 0
    for name in columns:
        for chunk in table[name].chunks:
            if pa.types.is_dictionary(chunk.type):
                lengths = pc.binary_length(chunk.dictionary)
                total += pc.sum(pc.cast(lengths.take(chunk.indices), pa.int64())).as_py() or 0
    return total
