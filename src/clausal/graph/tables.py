"""Files of facts as pyarrow tables of names, whatever their format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clausal.errors import InputError
from clausal.files import READING_ERRORS, cannot_read, check_regular, compression_of, open_bytes
from clausal.graph.bad_lines import Complaint, explain
from clausal.graph.columns import Columns, find_named, label_column, unused_note
from clausal.graph.contents import holds_json_objects
from clausal.graph.delimited import Tell, read_delimited, text_layout
from clausal.graph.jsonlines import read_json_rows
from clausal.graph.layout import stem_and_ending
from clausal.graph.rdf import RDF_ENDINGS, RdfOptions, line_of_fact, read_rdf
from clausal.graph.truth_labels import false_facts, false_label

KEEP_ALL = RdfOptions(literals="keep", blank_nodes="keep")
"""How RDF is read where every statement has to be a fact."""

_ARROW = (".arrow", ".feather", ".ipc")
_JSON = (".jsonl", ".ndjson", ".json")


def read_table(path: Path, columns: Columns, tell: Tell) -> Any:
    """Return a pyarrow table of names with a column for each field; ``tell`` hears what a user should know."""
    if not path.exists():
        raise InputError(f"{path}: no such file")
    check_regular(path)
    ending = stem_and_ending(path)[1]
    if ending in RDF_ENDINGS:
        if "label" in columns.fields:
            raise InputError(f"{path}: RDF holds no labels of facts; expected a text file with a fourth column")
        return read_rdf(path, KEEP_ALL).facts
    if ending == ".parquet" or ending in _ARROW:
        return read_columnar(path, columns, tell)
    if is_json(path):
        return read_json_rows(path, columns, tell)
    return read_delimited(path, columns, tell)


def is_json(path: Path) -> bool:
    """Say whether a file holds JSON, by its ending or its beginning."""
    if stem_and_ending(path)[1] in _JSON:
        return True
    try:
        with open_bytes(path) as stream:
            return holds_json_objects(stream.read(1 << 12))
    except READING_ERRORS as error:
        raise cannot_read(path, error) from None


def read_columnar(path: Path, columns: Columns, tell: Tell) -> Any:
    """Return the fields of a Parquet or Arrow file, whose columns have names."""
    import pyarrow as pa

    kind = "a Parquet" if stem_and_ending(path)[1] == ".parquet" else "an Arrow"
    try:
        with open_bytes(path) as stream:  # these are read from their end, which a compressed file cannot seek to
            source = pa.BufferReader(stream.read()) if compression_of(path) else stream
            table = _parquet(source) if kind == "a Parquet" else _arrow(source)
    except READING_ERRORS as error:
        raise cannot_read(path, error) from None
    except MemoryError:
        raise
    except pa.ArrowException as error:
        reason = str(error).split("\n")[0]
        raise InputError(f"{path}: not {kind} file, or a damaged one ({reason})") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: a column's name is not UTF-8; write the file with other names") from None
    if table.num_rows == 0:
        raise InputError(f"{path}: the file holds no facts; expected the columns {', '.join(columns.fields)}")
    return names_only(table, columns, str(path), tell)


def _parquet(source: Any) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(source).read()


def _arrow(source: Any) -> Any:
    """Read Arrow's file format, which Feather is too, or its stream."""
    import pyarrow as pa
    from pyarrow import ipc

    try:
        return ipc.open_file(source).read_all()
    except pa.ArrowInvalid:
        source.seek(0)
        return ipc.open_stream(source).read_all()


def names_only(table: Any, columns: Columns, source: str, tell: Tell) -> Any:
    """Find the columns of the fields in a table with names, and make them text without empty cells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = [str(name) for name in table.column_names]
    found = find_named(names, columns, source)
    _refuse_false_facts(table, names, found, source)
    chosen = {}
    for field, position in zip(columns.fields, found, strict=True):
        text = _as_text(table.column(position), field, source)
        missing = pc.or_kleene(pc.is_null(text), pc.fill_null(pc.equal(text, ""), True))
        if pc.any(missing).as_py():
            row = pc.index(missing, True).as_py() + 1
            raise InputError(f"{source}: row {row}: the {field} is empty")
        chosen[field] = text
    note = unused_note(names, found, source)
    if note:
        tell(note)
    return pa.table(chosen)


def _refuse_false_facts(table: Any, names: Sequence[str], used: Sequence[int], source: str) -> None:
    position = label_column(names, used)
    if position is None:
        return
    word = false_label(_as_text(table.column(position), names[position], source))
    if word is not None:
        raise InputError(false_facts(source, names[position], word))


def _as_text(column: Any, field: str, source: str) -> Any:
    """Return a column as text; whole numbers that are stored with decimals, as a missing value makes them, as whole."""
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        try:
            column = column.cast(pa.int64())
        except pa.ArrowInvalid:
            raise InputError(
                f"{source}: column {field} holds numbers with decimals, which make no reliable names; make them text"
            ) from None
    try:
        text = column.cast(pa.string())
    except MemoryError:
        raise
    except pa.ArrowException as error:
        if "capacity" in str(error):
            raise InputError(
                f"{source}: column {field} holds more than 2 GB of text in a row group; write smaller row groups"
            ) from None
        raise InputError(f"{source}: column {field} is of type {column.type}, expected names") from None
    _check_utf8(text, field, source)
    return text


def _check_utf8(names: Any, field: str, source: str) -> None:
    """Refuse text that is not UTF-8, which pyarrow takes as it is from a file that calls it text."""
    import pyarrow as pa

    try:
        names.validate(full=True)
    except pa.ArrowInvalid as error:
        for row, name in enumerate(names, 1):
            try:
                name.as_py()
            except UnicodeDecodeError as bad:
                byte = bad.object[bad.start]
                raise InputError(f"{source}: row {row}: the {field} is not UTF-8 (byte 0x{byte:02x})") from None
        raise InputError(f"{source}: column {field} is damaged ({str(error).splitlines()[0]})") from None


def bad_row(path: Path, columns: Columns, complaint: Complaint, row: int) -> InputError:
    """Name the place of the first row with a complaint, which pyarrow found at ``row`` (from 0)."""
    ending = stem_and_ending(path)[1]
    if ending in RDF_ENDINGS:
        line = line_of_fact(path, row)
        place = f"{path}:{line}" if line else str(path)
    elif ending == ".parquet" or ending in _ARROW or is_json(path):
        place = f"{path}: row {row + 1}"
    else:
        return explain(path, text_layout(path, columns), columns.fields, complaint)
    table = read_table(path, columns, lambda _: None)
    return InputError(f"{place}: {complaint({field: table.column(field)[row].as_py() for field in columns.fields})}")
