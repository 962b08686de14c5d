"""Facts from text with tabs, commas, semicolons (RFC quoting) or spaces, read by pyarrow without a loop over lines.

Where pyarrow refuses a file, ``explain`` scans it line by line in Python and names the first line that is wrong.
"""

from __future__ import annotations

import codecs
import mmap
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clausal.errors import InputError
from clausal.files import READING_ERRORS, cannot_read, compression_of, open_bytes
from clausal.graph.bad_lines import LONGEST_LINE, explain, not_utf16
from clausal.graph.columns import Columns, label_column, unused_note
from clausal.graph.layout import Layout, find_layout
from clausal.graph.separators import SPACE
from clausal.graph.truth_labels import false_facts, false_label

Tell = Callable[[str], object]
"""Takes a sentence that a user should read."""

_END = b"\n"
_REST = "column {}"  # of a column without a field


def text_layout(path: Path, columns: Columns) -> Layout:
    """Return the layout of a text file; a file that cannot be opened is an InputError."""
    try:
        return find_layout(path, columns)
    except READING_ERRORS as error:
        raise cannot_read(path, error) from None


def read_delimited(path: Path, columns: Columns, tell: Tell) -> Any:
    """Return a pyarrow table with one column of names for each field; ``tell`` hears what was left out."""
    import pyarrow as pa

    layout = text_layout(path, columns)
    try:
        _check_quotes(path, layout, columns.fields)
        table = _parse(path, layout, tell)
    except MemoryError:
        raise
    except (pa.ArrowException, *READING_ERRORS):
        raise explain(path, layout, columns.fields) from None
    if table.num_rows == 0 or any(_has_empty(table.column(field)) for field in columns.fields):
        raise explain(path, layout, columns.fields)
    _check_rows(path, layout, columns, table, tell)
    if layout.header is not None:
        used = [place for place, field in enumerate(layout.columns) if field]
        note = unused_note(layout.header, used, path.name)
        if note:
            tell(note)
    return table.select(columns.fields)


def _parse(path: Path, layout: Layout, tell: Tell) -> Any:
    import pyarrow as pa

    try:
        return _read(path, layout)
    except pa.ArrowInvalid:
        if not _is_utf8(path, layout):  # pyarrow could not hand the bad row to Python, and would print that on stderr
            raise
        comments: list[str] = []
        table = _read(path, layout, comments)
        if comments:
            lines = "1 line that begins" if len(comments) == 1 else f"{len(comments):,} lines that begin"
            tell(f"{path.name}: {lines} with # passed over")
        return table


def _read(path: Path, layout: Layout, comments: list[str] | None = None) -> Any:
    """Read with pyarrow; where ``comments`` are collected, lines of spaces and comments are passed over.

    The threads that read hold on to a Python callback for a moment after the reading, and a process that ends within
    that moment is aborted. So there is none unless it is needed, and then no threads.
    """
    from pyarrow import csv

    with _open(path, layout) as stream:
        return csv.read_csv(stream, **_options(layout, comments))


def _options(layout: Layout, comments: list[str] | None) -> dict[str, Any]:
    """Return how pyarrow is to read text of this layout."""
    import pyarrow as pa
    from pyarrow import csv

    def pass_over(row: Any) -> str:
        if layout.comments and row.text.startswith("#"):
            comments.append(row.text)  # type: ignore[union-attr]
            return "skip"
        return "error" if row.text.strip() else "skip"

    names = [field or _REST.format(place) for place, field in enumerate(layout.columns)]
    wanted = [name for place, name in enumerate(names) if layout.columns[place] or _is_checked(layout, place)]
    return {
        "read_options": csv.ReadOptions(
            column_names=names, block_size=LONGEST_LINE, skip_rows=layout.skip, use_threads=comments is None
        ),
        "parse_options": csv.ParseOptions(
            delimiter=layout.delimiter,
            quote_char='"' if layout.quoted else False,
            newlines_in_values=layout.quoted,
            invalid_row_handler=None if comments is None else pass_over,
        ),
        "convert_options": csv.ConvertOptions(
            column_types=dict.fromkeys(wanted, pa.string()), strings_can_be_null=False, include_columns=wanted
        ),
    }


def delimited_batches(path: Path, columns: Columns) -> Iterator[Any]:
    """Yield pyarrow tables of a text file piece by piece; what is wrong with it is said when it is met."""
    import pyarrow as pa
    from pyarrow import csv

    layout = text_layout(path, columns)
    rows = 0
    try:
        _check_quotes(path, layout, columns.fields)
        comments: list[str] | None = [] if _is_utf8(path, layout) else None
        with _open(path, layout) as stream, csv.open_csv(stream, **_options(layout, comments)) as batches:
            for batch in batches:
                table = pa.Table.from_batches([batch])
                if any(_has_empty(table.column(field)) for field in columns.fields):
                    raise explain(path, layout, columns.fields)
                _check_rows(path, layout, columns, table, lambda _: None)
                rows += table.num_rows
                yield table.select(columns.fields)
    except MemoryError:
        raise
    except (pa.ArrowException, *READING_ERRORS):
        raise explain(path, layout, columns.fields) from None
    if not rows:
        raise explain(path, layout, columns.fields)


def _is_checked(layout: Layout, place: int) -> bool:
    """Say whether a column without a field has to be empty, as one behind a last separator, or says what is true."""
    if layout.header is None:
        return not any(layout.columns[place:])
    used = [other for other, field in enumerate(layout.columns) if field]
    return place == label_column(layout.header, used)


def _check_quotes(path: Path, layout: Layout, fields: Sequence[str]) -> None:
    """Refuse ``"Weird Al" Yankovic``: what follows a closing quote would be joined to the name without a word."""
    if not layout.quoted:
        return
    mark = re.escape(layout.delimiter.encode())
    cell = re.compile(rb"(?:\A|(?<=[\n\r" + mark + rb']))"[^"]*(?:""[^"]*)*(?:"([^\n\r"' + mark + rb"])?|(\Z))")
    with _bytes_of(path, layout) as content:
        for found in cell.finditer(content):
            if found[1] is None and found[2] is None:
                continue
            place = f"{path}:{content[: found.start()].count(_END) + 1}"
            text = content[found.start() : found.start() + 40].split(b"\n")[0].decode("utf-8", "replace")
            if found[2] is None:
                raise InputError(
                    f"{place}: text follows a closing quote: {text!r}; is a quote left open? A quote inside a name in "
                    'quotes is written twice: """Weird Al"" Yankovic"'
                )
            bad = explain(path, layout, fields)
            if "expected" in str(bad):  # the row that swallowed the rest has too few columns
                raise bad
            raise InputError(f"{place}: the quote of {text!r} is never closed; is a quote left open?")


@contextmanager
def _bytes_of(path: Path, layout: Layout) -> Iterator[Any]:
    """Give the whole text in UTF-8, from the disk as it is needed where it is there so."""
    if compression_of(path) or layout.encoding == "utf-16" or not path.stat().st_size:
        yield _content(path, layout)
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        yield content


def _check_rows(path: Path, layout: Layout, columns: Columns, table: Any, tell: Tell) -> None:
    """Refuse rows that are no facts though they can be read as such: a header again, comments, false facts."""
    import pyarrow.compute as pc

    for place in range(len(layout.columns)):
        if layout.columns[place] is None and _is_checked(layout, place):
            column = table.column(_REST.format(place))
            if layout.header is None and pc.any(pc.not_equal(column, "")).as_py():
                raise explain(path, layout, columns.fields)
            if layout.header is not None and (word := false_label(column)) is not None:
                raise InputError(false_facts(path, layout.header[place], word))
    if layout.header is not None:
        words = {field: layout.header[place].strip() for place, field in enumerate(layout.columns) if field}
        if _occurs(table, words):
            raise explain(path, layout, columns.fields, lambda row: _repeats(row, words))
    first = layout.columns[0]
    if first is not None and layout.comments:
        names = table.column(first)
        marked = names.filter(pc.starts_with(names, "#")).unique()
        without = pc.utf8_ltrim(marked, "# ")
        if len(marked) and pc.any(pc.is_in(without, names)).as_py():
            meant = {*without.filter(pc.is_in(without, names)).to_pylist()}
            raise explain(path, layout, columns.fields, lambda row: _is_comment(row[first], meant))
        if len(marked):
            tell(f"{path.name}: '{marked[0]}' is read as a name, though it begins with #")


def _occurs(table: Any, words: Mapping[str, str]) -> bool:
    import pyarrow.compute as pc

    same = pc.equal(table.column("relation"), words["relation"])
    if not pc.any(same).as_py():
        return False
    return any(all(row[field] == word for field, word in words.items()) for row in table.filter(same).to_pylist())


def _repeats(row: Mapping[str, str], words: Mapping[str, str]) -> str | None:
    same = all(row[field] == word for field, word in words.items())
    return "the header stands here again; are these several files in one? Take it out" if same else None


def _is_comment(cell: str, meant: set[str]) -> str | None:
    """Ask about ``#anna`` where anna is a name too: the fact may be commented out."""
    if not cell.startswith("#") or cell.lstrip("# ") not in meant:
        return None
    return f"is '{cell}' a comment or a name? Take the line out, or give --header no if every line is a fact"


def _is_utf8(path: Path, layout: Layout) -> bool:
    decoder = codecs.getincrementaldecoder(layout.encoding)()
    try:
        with open_bytes(path) as stream:
            while block := stream.read(LONGEST_LINE):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _open(path: Path, layout: Layout) -> Any:
    import pyarrow as pa

    if layout.delimiter != SPACE and layout.encoding != "utf-16":
        return pa.input_stream(str(path), compression=compression_of(path))
    content = _content(path, layout)
    if layout.delimiter == SPACE:
        content = re.sub(rb"[ \t]+", b" ", content)
        content = re.sub(rb" ?([\r\n]) ?", rb"\1", content).strip(b" ")
    return pa.BufferReader(content)


def _content(path: Path, layout: Layout) -> bytes:
    with open_bytes(path) as stream:
        content = stream.read()
    if layout.encoding != "utf-16":
        return content
    try:
        return content.decode("utf-16").encode()
    except UnicodeDecodeError:
        raise not_utf16(path) from None


def _has_empty(column: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.min(pc.binary_length(column)).as_py() == 0)
