"""Files of facts as pyarrow tables of names, whatever their format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clausal.errors import InputError
from clausal.files import READING_ERRORS, cannot_read, check_regular, is_gzip, open_bytes
from clausal.graph.delimited import Complaint, explain, read_delimited, text_layout
from clausal.graph.layout import field_named, stem_and_ending
from clausal.graph.ntriples import line_of_row, read_ntriples


def read_table(path: Path, fields: Sequence[str]) -> Any:
    """Return a pyarrow table of names with the columns ``fields``, which is their order in the file."""
    if not path.exists():
        raise InputError(f"{path}: no such file")
    check_regular(path)
    ending = stem_and_ending(path)[1]
    if ending == ".nt":
        if "label" in fields:
            raise InputError(f"{path}: N-Triples hold no labels; expected a text file with a fourth column")
        return read_ntriples(path)
    return read_parquet(path, fields) if ending == ".parquet" else read_delimited(path, fields)


def read_parquet(path: Path, fields: Sequence[str]) -> Any:
    """Return the columns of a Parquet file that are named as in ``fields``, or all in that order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open_bytes(path) as stream:  # Parquet is read from its end, which gzip cannot seek to
            source = pa.BufferReader(stream.read()) if is_gzip(path) else stream
            table = pq.ParquetFile(source).read()
    except READING_ERRORS as error:
        raise cannot_read(path, error) from None
    except MemoryError:
        raise
    except pa.ArrowException as error:
        reason = str(error).split("\n")[0]
        raise InputError(f"{path}: not a Parquet file, or a damaged one ({reason})") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: a column's name is not UTF-8; write the file with other names") from None
    if table.num_rows == 0:
        raise InputError(f"{path}: the file holds no facts; expected the columns {', '.join(fields)}")
    return names_only(table, fields, str(path))


def names_only(table: Any, fields: Sequence[str], source: str) -> Any:
    """Pick the columns ``fields`` from a table and make them text without empty cells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chosen = {}
    for field, column in _pick(table, fields, source).items():
        try:
            names = column.cast(pa.string())
        except MemoryError:
            raise
        except pa.ArrowException as error:
            if "capacity" in str(error):
                raise InputError(
                    f"{source}: column {field} holds more than 2 GB of text in a row group; write smaller row groups"
                ) from None
            raise InputError(f"{source}: column {field} is of type {column.type}, expected names") from None
        _check_utf8(names, field, source)
        missing = pc.or_kleene(pc.is_null(names), pc.fill_null(pc.equal(names, ""), True))
        if pc.any(missing).as_py():
            row = pc.index(missing, True).as_py() + 1
            raise InputError(f"{source}: row {row}: the {field} is empty")
        chosen[field] = names
    return pa.table(chosen)


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


def _pick(table: Any, fields: Sequence[str], source: str) -> dict[str, Any]:
    named = {field_named(name): column for name, column in zip(table.column_names, table.columns, strict=True)}
    if set(fields) <= set(named):
        return {field: named[field] for field in fields}
    if table.num_columns == len(fields):
        return dict(zip(fields, table.columns, strict=True))
    raise InputError(
        f"{source}: columns {', '.join(table.column_names)}; expected {', '.join(fields)}, "
        f"or {len(fields)} columns in that order"
    )


def bad_row(path: Path, fields: Sequence[str], complaint: Complaint, row: int) -> InputError:
    """Name the place of the first row with a complaint, which pyarrow found at ``row`` (from 0)."""
    ending = stem_and_ending(path)[1]
    if ending not in (".nt", ".parquet"):
        layout = text_layout(path, len(fields))
        return explain(path, layout, layout.header or fields, complaint)
    place = f"{path}:{line_of_row(path, row)}" if ending == ".nt" else f"{path}: row {row + 1}"
    table = read_table(path, fields)
    return InputError(f"{place}: {complaint({field: table.column(field)[row].as_py() for field in fields})}")
