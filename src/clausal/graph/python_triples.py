"""Facts given in Python, as tuples of names or as a data frame, made into a table of names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clausal.errors import InputError
from clausal.graph.layout import field_named
from clausal.graph.tables import names_only

_FIELDS = ("subject", "relation", "object")


def table_of_triples(triples: Any, split: str) -> Any:
    """Return a pyarrow table of names; ``split`` names the facts in messages."""
    return _from_frame(triples, split) if hasattr(triples, "columns") else _from_rows(triples, split)


def _from_frame(frame: Any, split: str) -> Any:
    import pyarrow as pa

    named = {field_named(str(column)): column for column in frame.columns}
    by_name = set(_FIELDS) <= named.keys()
    chosen = [named[field] for field in _FIELDS] if by_name else list(frame.columns)[:3]
    names = list(_FIELDS) if by_name else [str(column) for column in chosen]
    if len(frame) == 0:
        return _empty_table()
    try:
        columns = [pa.chunked_array([pa.array(frame[column], from_pandas=True)]) for column in chosen]
    except MemoryError:
        raise
    except pa.ArrowException as error:
        raise InputError(f"{split}: the data frame does not hold names: {error}") from None
    return names_only(pa.table(columns, names=names), _FIELDS, split)


def _from_rows(rows: Iterable[Any], split: str) -> Any:
    import pyarrow as pa

    columns: tuple[list[str], list[str], list[str]] = ([], [], [])
    for number, row in enumerate(rows, start=1):
        cells = [row] if isinstance(row, str) else list(row)
        if len(cells) != 3 or not all(isinstance(cell, str) and cell for cell in cells):
            raise InputError(f"{split}: fact {number} is {row!r}; expected three names: subject, relation, object")
        for column, cell in zip(columns, cells, strict=True):
            column.append(str(cell))
    try:
        return pa.table({field: pa.array(column, pa.string()) for field, column in zip(_FIELDS, columns, strict=True)})
    except UnicodeEncodeError as error:
        raise InputError(f"{split}: the name {error.object!r} is not valid Unicode") from None


def _empty_table() -> Any:
    import pyarrow as pa

    return pa.table({field: pa.array([], pa.string()) for field in _FIELDS})
