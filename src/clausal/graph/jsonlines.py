"""Facts from JSON: one object or list a line, or one list of them; keys are columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from clausal.errors import InputError
from clausal.files import READING_ERRORS, cannot_read, open_bytes
from clausal.graph.columns import Columns, find_named, find_numbered, label_column, unused_note
from clausal.graph.truth_labels import read_label

_BATCH = 100_000
_KINDS = {dict: "an object", list: "a list", bool: "true or false", type(None): "null", str: "a text"}


class _Constant:
    """NaN or Infinity, which stand for no name."""


def read_json_rows(path: Path, columns: Columns, tell: Callable[[str], object]) -> Any:
    """Return a pyarrow table of names; numbers keep their digits, what is nested or missing is refused by its line."""
    import pyarrow as pa

    rows = _rows(path)
    try:
        place, first = next(rows, ("", None))
        if first is None:
            raise InputError(
                f"{path}: the file holds no facts; expected an object with {', '.join(columns.fields)} a line"
            )
        keys = _keys(first, columns, place, tell)
        batches = _batches(chain([(place, first)], rows), keys, columns)
        schema = pa.schema([(field, pa.string()) for field in columns.fields])
        return pa.Table.from_batches(batches, schema)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 (byte 0x{error.object[error.start]:02x}); save the file as UTF-8"
        ) from None
    except UnicodeEncodeError as error:
        raise InputError(f"{path}: the name {error.object!r} is not valid Unicode") from None
    except READING_ERRORS as error:
        raise cannot_read(path, error) from None


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield each value with its place: those of the lines, or those of the one list that the file is."""
    with open_bytes(path) as stream:
        lines = (
            (f"{path}:{number}", text)
            for number, line in enumerate(stream, start=1)
            if (text := line.decode("utf-8-sig" if number == 1 else "utf-8").strip())
        )
        place, first = next(lines, ("", None))
        if first is None:
            return
        if first.startswith("[") and _value(first) is None:  # one list over several lines
            whole = _parsed(first + "".join(text for _, text in lines), str(path))
            yield from ((f"{path}: item {number}", value) for number, value in enumerate(whole, start=1))
            return
        value = _parsed(first, place)
        if isinstance(value, list) and value and all(isinstance(item, (dict, list)) for item in value):
            yield from ((f"{path}: item {number}", item) for number, item in enumerate(value, start=1))
            value = None
        if value is not None:
            yield place, value
        for place, text in lines:
            yield place, _parsed(text, place)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=lambda _: _Constant())
    except (ValueError, RecursionError) as error:
        hint = "; expected one object or list on each line" if text[:1] in "{[" else ""
        raise InputError(f"{place}: not valid JSON ({error}){hint}") from None


def _keys(first: Any, columns: Columns, place: str, tell: Callable[[str], object]) -> list[str] | list[int]:
    """Return under which keys, or at which places of a list, the fields are."""
    if isinstance(first, list):
        if columns.numbers is not None:
            return list(find_numbered(len(first), columns, place))
        if len(first) == len(columns.fields):
            return [columns.order.index(field) for field in columns.fields]
        raise InputError(
            f"{place}: a list of {len(first)}; expected {len(columns.fields)}: {', '.join(columns.fields)}"
        )
    if not isinstance(first, dict):
        raise InputError(f"{place}: {_kind(first)}; expected an object with the keys {', '.join(columns.fields)}")
    names = list(first)
    if "@context" in names or "@graph" in names:
        raise InputError(f"{place}: this is JSON-LD; give the file the ending .jsonld")
    found = find_named(names, columns, place)
    note = unused_note(names, found, place.rpartition(":")[0].rpartition("/")[2])
    if note:
        tell(note)
    return [names[position] for position in found]


def _batches(rows: Iterable[tuple[str, Any]], keys: Sequence[Any], columns: Columns) -> Iterator[Any]:
    import pyarrow as pa

    cells: list[list[str]] = [[] for _ in keys]
    kind = dict if isinstance(keys[0], str) else list

    def batch() -> Any:
        arrays = [pa.array(column, pa.string()) for column in cells]
        return pa.record_batch(arrays, names=list(columns.fields))

    for place, value in rows:
        if type(value) is not kind or (kind is list and len(value) <= max(keys)):
            raise InputError(f"{place}: {_kind(value)}; expected {_KINDS[kind]} as in the first line")
        if kind is list and columns.numbers is None and len(value) != len(keys):
            raise InputError(f"{place}: a list of {len(value)}; expected {len(keys)}: {', '.join(columns.fields)}")
        if isinstance(value, dict):
            _refuse_false(value, keys, place)
        for column, key, field in zip(cells, keys, columns.fields, strict=True):
            cell = value[key] if kind is list or key in value else ...
            if type(cell) is not str or not cell:
                cell = _name(cell, field, f"'{key}'" if kind is dict else f"item {key + 1}", place)
            column.append(cell)
        if len(cells[0]) == _BATCH:
            yield batch()
            for column in cells:
                column.clear()
    yield batch()


def _name(cell: Any, field: str, key: str, place: str) -> str:
    """Return a label that is true or false as text; refuse any other thing that is no name."""
    if field == "label" and isinstance(cell, bool):
        return str(cell)
    what = f"no {key}" if cell is ... else f"{key} is {'empty' if cell == '' else _kind(cell)}"
    raise InputError(f"{place}: {what}; expected the name of the {field}")


def _refuse_false(value: dict[str, Any], keys: Sequence[str], place: str) -> None:
    names = list(value)
    position = label_column(names, [names.index(key) for key in keys if key in names])
    label = None if position is None else value[names[position]]
    if label is False or (isinstance(label, str) and read_label(label) is False):
        raise InputError(
            f"{place}: '{names[position or 0]}' calls this fact false; keep the true facts, or rename the key"
        )


def _kind(value: Any) -> str:
    if isinstance(value, _Constant):
        return "not a number"
    return _KINDS.get(type(value), "a number")
