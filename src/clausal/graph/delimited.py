"""Facts from text with tabs, commas (RFC quoting) or spaces, read by pyarrow without a loop over lines."""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clausal.graph.diagnosis import cannot_read, explain
from clausal.graph.formats import COMMA, SPACE, Layout, find_layout, is_gzip, open_bytes

_BLOCK_BYTES = 8 << 20


def text_layout(path: Path, width: int) -> Layout:
    """Return the layout of a text file; a file that cannot be opened is an InputError."""
    try:
        return find_layout(path, width)
    except (OSError, EOFError, zlib.error) as error:
        raise cannot_read(path, error) from None


def read_delimited(path: Path, fields: Sequence[str]) -> Any:
    """Return a pyarrow table with one column of names for each of ``fields``."""
    import pyarrow as pa

    layout = text_layout(path, len(fields))
    try:
        table = _parse(path, layout, layout.header or fields)
    except (pa.ArrowException, OSError, EOFError, zlib.error):
        raise explain(path, layout, layout.header or fields) from None
    if table.num_rows == 0 or any(_has_empty(column) for column in table.columns):
        raise explain(path, layout, layout.header or fields)
    return table


def _parse(path: Path, layout: Layout, fields: Sequence[str]) -> Any:
    import pyarrow as pa

    try:
        return _read(path, layout, fields)
    except pa.ArrowInvalid:
        return _read(path, layout, fields, skip_spaces=True)


def _read(path: Path, layout: Layout, fields: Sequence[str], *, skip_spaces: bool = False) -> Any:
    """Read with pyarrow; ``skip_spaces`` passes over lines of spaces, which are as blank as the empty ones it skips.

    The threads that read hold on to a Python callback for a moment after the reading, and a process that ends within
    that moment is aborted. So there is none unless it is needed, and then no threads.
    """
    import pyarrow as pa
    from pyarrow import csv

    quoted = layout.delimiter == COMMA
    with _quiet_callbacks(), _open(path, layout) as stream:
        return csv.read_csv(
            stream,
            read_options=csv.ReadOptions(
                column_names=list(fields),
                block_size=_BLOCK_BYTES,
                skip_rows=1 if layout.header else 0,
                use_threads=not skip_spaces,
            ),
            parse_options=csv.ParseOptions(
                delimiter=layout.delimiter,
                quote_char='"' if quoted else False,
                newlines_in_values=quoted,
                invalid_row_handler=_skip_spaces if skip_spaces else None,
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(fields, pa.string()), strings_can_be_null=False
            ),
        )


def _skip_spaces(row: Any) -> str:
    return "error" if row.text.strip() else "skip"


@contextmanager
def _quiet_callbacks() -> Iterator[None]:
    """Keep Python from printing what goes wrong before pyarrow calls back: a bad row that is no UTF-8.

    The row fails to parse all the same, and ``explain`` then says where.
    """
    before = sys.unraisablehook
    sys.unraisablehook = lambda _: None
    try:
        yield
    finally:
        sys.unraisablehook = before


def _open(path: Path, layout: Layout) -> Any:
    import pyarrow as pa

    if layout.delimiter != SPACE:
        return pa.input_stream(str(path), compression="gzip" if is_gzip(path) else None)
    with open_bytes(path) as stream:
        content = stream.read()
    content = re.sub(rb"[ \t]+", b" ", content)
    content = re.sub(rb" ?([\r\n]) ?", rb"\1", content).strip(b" ")
    return pa.BufferReader(content)


def _has_empty(column: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.min(pc.binary_length(column)).as_py() == 0)
