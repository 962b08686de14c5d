"""Files of facts some rows at a time, so that files larger than the memory can be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clausal.errors import InputError
from clausal.files import READING_ERRORS, cannot_read, check_regular, compression_of, open_bytes
from clausal.graph.columns import Columns
from clausal.graph.delimited import delimited_batches
from clausal.graph.layout import stem_and_ending
from clausal.graph.separators import BY_ENDING
from clausal.graph.tables import is_json, names_only, read_table

_ROWS = 1 << 16


def read_batches(path: Path, columns: Columns) -> Iterator[Any]:
    """Yield pyarrow tables of names with a column for each field, in the order of the file.

    Text and Parquet are read piece by piece; other formats at once.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file")
    check_regular(path)
    ending = stem_and_ending(path)[1]
    if ending == ".parquet" and compression_of(path) is None:
        yield from _parquet_batches(path, columns)
    elif ending in BY_ENDING and not is_json(path):
        yield from delimited_batches(path, columns)
    else:
        table = read_table(path, columns, _nobody)
        for start in range(0, table.num_rows, _ROWS):
            yield table.slice(start, _ROWS)


def _parquet_batches(path: Path, columns: Columns) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = 0
    try:
        with open_bytes(path) as stream:
            for batch in pq.ParquetFile(stream).iter_batches(batch_size=_ROWS):
                rows += batch.num_rows
                yield names_only(pa.Table.from_batches([batch]), columns, str(path), _nobody)
    except READING_ERRORS as error:
        raise cannot_read(path, error) from None
    except (pa.ArrowException, InputError, UnicodeDecodeError):
        read_table(path, columns, _nobody)  # says in which row of the whole file it is
        raise
    if not rows:
        read_table(path, columns, _nobody)  # says that there are no facts


def _nobody(_: str) -> None:
    """Hear what was left out of facts that are only looked up."""
