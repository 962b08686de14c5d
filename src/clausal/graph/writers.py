"""Facts to files, by name: tab-separated text or Parquet, under a temporary name until they are whole."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from clausal.errors import InputError
from clausal.files import atomic_file, atomic_folder, check_file_target, check_new_folder, is_gzip, sync
from clausal.graph.facts import Facts
from clausal.graph.graph import Graph, check_part_name
from clausal.graph.layout import header_fields, stem_and_ending
from clausal.graph.vocabulary import Names

_FIELDS = ("subject", "relation", "object")
_TEXT_ENDINGS = ("", ".txt", ".tsv", ".tab")
_CHUNK = 1 << 18  # facts whose names are held in memory at a time
_BREAKS_LINES = r"[\t\r\n]"


def write_facts(path: str | Path, facts: Facts, entities: Names, relations: Names) -> None:
    """Write facts as tab-separated text, or as Parquet to a file of that ending; ``.gz`` is compressed.

    The file appears under its name when it is whole, in the place of one that was there.
    """
    path = Path(path)
    check_target(path)
    names = _arrow_names(entities), _arrow_names(relations)
    if stem_and_ending(path)[1] != ".parquet":
        _refuse_line_breaks(path, *names)
    with atomic_file(path) as temporary:
        _fill(temporary, path, facts, *names)


def check_target(path: Path) -> None:
    """Refuse a file that facts could not be written to, before any work is done for it."""
    ending = stem_and_ending(path)[1]
    if ending not in (*_TEXT_ENDINGS, ".parquet"):
        raise InputError(f"{path}: facts are written as .tsv, .txt or .parquet, or with .gz behind it, not '{ending}'")
    check_file_target(path)
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")


def write_graph(folder: str | Path, graph: Graph) -> None:
    """Write a new folder with a file for each split and part that has facts; ``load_graph`` reads it back.

    The files are tab-separated text, or Parquet where a name holds a tab or a line break.
    """
    folder = Path(folder)
    check_new_folder(folder)
    for part in graph.parts:
        check_part_name(part)
    names = _arrow_names(graph.entities), _arrow_names(graph.relations)
    ending = ".tsv" if all(_breaks_lines(known) is None for known in names) else ".parquet"
    with atomic_folder(folder) as temporary:
        for name, facts in (*graph.splits.items(), *graph.parts.items()):
            if len(facts):
                path = temporary / f"{name}{ending}"
                _fill(path, path, facts, *names)
                sync(path)


def _fill(path: Path, target: Path, facts: Facts, entities: Any, relations: Any) -> None:
    """Write facts to ``path`` in the format of ``target``, by its ending."""
    write = _write_parquet if stem_and_ending(target)[1] == ".parquet" else _write_text
    with path.open("wb") as file:
        if is_gzip(target):
            # Without a name and a time in its header, so that the same facts are the same bytes.
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as stream:
                write(cast(BinaryIO, stream), facts, entities, relations)
        else:
            write(file, facts, entities, relations)


def _write_text(stream: BinaryIO, facts: Facts, entities: Any, relations: Any) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    for start, table in enumerate(_tables(facts, entities, relations)):
        if start == 0 and _reads_as_header([column[0].as_py() for column in table.columns]):
            stream.write(b"\t".join(field.encode() for field in _FIELDS) + b"\n")
        subjects, relation_names, objects = (column.cast(pa.large_string()) for column in table.columns)
        tab, end, nothing = (pa.scalar(text, pa.large_string()) for text in ("\t", "\n", ""))
        ended = pc.binary_join_element_wise(objects, end, nothing)
        lines = pc.binary_join_element_wise(subjects, relation_names, ended, tab)
        for chunk in lines.chunks:
            stream.write(chunk.buffers()[2])  # the text of all lines, one behind the other


def _reads_as_header(names: list[str]) -> bool:
    """Say whether a reader would take a first line of these names for something else than a fact."""
    return header_fields(names, 3) is not None or names[0].startswith("\ufeff")


def _write_parquet(stream: BinaryIO, facts: Facts, entities: Any, relations: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(field, pa.string()) for field in _FIELDS])
    with pq.ParquetWriter(stream, schema) as writer:
        for table in _tables(facts, entities, relations):
            writer.write_table(table)


def _tables(facts: Facts, entities: Any, relations: Any) -> Iterator[Any]:
    import pyarrow as pa

    for start in range(0, len(facts), _CHUNK):
        rows = facts[start : start + _CHUNK]
        columns = [names.take(pa.array(rows[:, i])) for i, names in enumerate((entities, relations, entities))]
        yield pa.table(columns, names=list(_FIELDS))


def _arrow_names(names: Names) -> Any:
    import pyarrow as pa

    return pa.array(list(names), pa.string())


def _breaks_lines(names: Any) -> str | None:
    """Return a name that tab-separated text cannot hold, or None."""
    import pyarrow.compute as pc

    found = names.filter(pc.match_substring_regex(names, _BREAKS_LINES))
    return str(found[0].as_py()) if len(found) else None


def _refuse_line_breaks(path: Path, *vocabularies: Any) -> None:
    for names in vocabularies:
        name = _breaks_lines(names)
        if name is not None:
            raise InputError(
                f"{path}: the name {name!a} has a tab or a line break in it, which tab-separated text cannot "
                "hold; write a .parquet file"
            )
