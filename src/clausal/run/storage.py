"""The graph inside a run directory: vocabulary and facts as Parquet, so that a run can be used on its own.

What RDF says beside facts is there too, where a graph has it: texts and numbers of entities, and prefixes of IRIs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
_VOCABULARY_COLUMNS = {"kind": "string", "name": "string"}
_FACT_COLUMNS = {"split": "string", "subject": "int32", "relation": "int32", "object": "int32"}
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
    import pyarrow as pa

    entities, relations = _read_names(folder / VOCABULARY)
    groups = _read_facts(folder / FACTS, len(entities), len(relations))
    pa.default_memory_pool().release_unused()  # of what reading took, before a training takes its own
    splits = {name: groups.pop(name, no_facts()) for name in ("train", "valid", "test")}
    for part in groups:
        try:
            check_part_name(part)
        except InputError as error:
            raise InputError(f"{folder / FACTS}: damaged: {error}") from None
    return Graph(
        entities=entities,
        relations=relations,
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


def _read_names(path: Path) -> tuple[Names, Names]:
    """Return the names of entities and of relations, in the order of their ids."""
    import pyarrow.compute as pc

    table = _read(path, _VOCABULARY_COLUMNS)
    texts = table["name"].combine_chunks()
    encoded = table["kind"].combine_chunks().dictionary_encode()
    codes, kinds = _numbers(encoded.indices), encoded.dictionary.to_pylist()
    for kind in kinds:
        if kind not in ("entity", "relation"):
            raise InputError(f"{path}: damaged: a row of kind {kind!r}; expected entity or relation")
    found: list[Names] = []
    for kind in ("entity", "relation"):
        places = np.flatnonzero(codes == kinds.index(kind)) if kind in kinds else np.empty(0, np.int64)
        names = texts.take(_arrow_numbers(places))
        if pc.count_distinct(names).as_py() != len(names):
            raise InputError(f"{path}: damaged: the same {kind} name occurs twice")
        if pc.min(pc.binary_length(names)).as_py() == 0:
            raise InputError(f"{path}: damaged: a row of kind {kind!r} with name ''")
        found.append(Names(names, kind))
    return found[0], found[1]


def _arrow_numbers(values: NDArray[np.int64]) -> Any:
    """Return whole numbers for pyarrow, which would import pandas to look at an array itself."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])


def _read_facts(path: Path, entities: int, relations: int) -> dict[str, Facts]:
    """Return the facts of each split and part; the file is read in pieces, so that its facts are in memory once."""
    limits = np.array([entities, relations, entities])
    labels: dict[str, int] = {}
    with _opened(path, _FACT_COLUMNS) as file:
        rows = np.empty((file.metadata.num_rows, 3), np.int32)
        codes = np.empty(len(rows), np.int32)
        start = 0
        for number in range(file.num_row_groups):
            table = _checked(path, file.read_row_group(number), _FACT_COLUMNS)
            piece = slice(start, start := start + len(table))
            for place, column in enumerate(("subject", "relation", "object")):
                rows[piece, place] = _numbers(table[column].combine_chunks())
            if ((rows[piece] < 0) | (rows[piece] >= limits)).any():
                raise InputError(f"{path}: damaged: a fact has an id outside the vocabulary")
            split = table["split"].combine_chunks().dictionary_encode()
            known = [labels.setdefault(label, len(labels)) for label in split.dictionary.to_pylist()]
            codes[piece] = np.array(known, np.int32)[_numbers(split.indices)]
    return {label: _rows_with(rows, codes, code) for label, code in labels.items()}


def _rows_with(rows: Facts, codes: NDArray[np.int32], code: int) -> Facts:
    """Return the rows that have a code; where they lie side by side, as they are written, they are not copied."""
    places = np.flatnonzero(codes == code)
    first, last = places[0], places[-1] + 1
    return rows[first:last] if last - first == len(places) else rows[places]


def _read_prefixes(path: Path) -> dict[str, str]:
    found = read_json(path) if path.exists() else {}
    if len(found) > _MOST_PREFIXES or not all(isinstance(iri, str) for iri in found.values()):
        raise InputError(f"{path}: damaged: expected prefixes of IRIs by name")
    return found


def _numbers(column: Any) -> Any:
    """Return a column of integers, none missing, as an array; pyarrow's own ``to_numpy`` would import pandas."""
    return np.from_dlpack(column)


def _read(path: Path, columns: Mapping[str, str]) -> Any:
    """Read a Parquet file that must have exactly these columns, without missing values."""
    with _opened(path, columns) as file:
        return _checked(path, file.read(), columns)


@contextmanager
def _opened(path: Path, columns: Mapping[str, str]) -> Iterator[Any]:
    """Open a Parquet file that must have exactly these columns; what goes wrong inside is said in words."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        about = parquet.read_metadata(path)
        if about.num_rows > _ROWS_IN_ANY_FILE + _ROWS_PER_BYTE * path.stat().st_size:
            raise InputError(
                f"{path}: damaged: it claims {about.num_rows:,} rows, more than a file of its size can hold"
            )
        if about.schema.names != list(columns):
            raise InputError(f"{path}: damaged: expected columns {', '.join(columns)}; found {about.schema.names}")
        # A text that is repeated is kept once. The file is read by itself: as a data set, it would import pandas.
        with parquet.ParquetFile(path, read_dictionary=_text(columns)) as file:
            yield file
    except FileNotFoundError:
        raise InputError(f"{path}: missing, the run directory is incomplete") from None
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: damaged: {str(error).splitlines()[0]}") from None


def _checked(path: Path, table: Any, columns: Mapping[str, str]) -> Any:
    """Return what was read of a file with the kinds of its columns, after looking for what would take much memory."""
    import pyarrow as pa

    if "name" in columns and _is_repetitive(table["name"]):
        raise InputError(f"{path}: damaged: the same name occurs again and again")
    if _text_length(table, _text(columns)) > _TEXT_IN_ANY_FILE + _TEXT_PER_BYTE * path.stat().st_size:
        raise InputError(f"{path}: damaged: the same long texts occur again and again")
    table = table.cast(pa.schema(list(columns.items())))
    table.validate(full=True)  # text is UTF-8
    if any(table[name].null_count for name in columns):
        raise InputError(f"{path}: damaged: it has missing values")
    return table


def _text(columns: Mapping[str, str]) -> list[str]:
    return [name for name, kind in columns.items() if kind == "string"]


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
