"""N-Triples and N-Quads in blocks of lines, side by side: usual lines by a kernel, the others by pyoxigraph."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from clausal.graph.rdf.statements import FACT_COLUMNS, LITERAL_COLUMNS, Statements, text_table
from clausal.graph.rdf.terms import XSD_STRING, Naming, Piece, tables_of

_BLOCK_BYTES = 8 << 20
_LONGEST_LINE = 1 << 28
_WORTH_A_KERNEL = 1 << 19  # bytes that pyoxigraph reads while Numba is imported


class LineError(Exception):
    """A line that cannot be read; the number counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


def read_lines(stream: BinaryIO, quads: bool, naming: Naming, advanced: Callable[[], None]) -> Iterator[Statements]:
    """Yield the statements of each block of lines in order; ``advanced`` is called as blocks are read."""
    before = 0  # lines of the blocks that are done
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(threads, thread_name_prefix="clausal-rdf") as pool:
        waiting: deque[tuple[Future[Piece], int]] = deque()
        for block in _blocks(stream):
            advanced()
            waiting.append((pool.submit(_read_block, block, quads, naming), block.count(b"\n")))
            if len(waiting) > threads:
                yield _result(waiting[0][0], before)
                before += waiting.popleft()[1]
        while waiting:
            yield _result(waiting[0][0], before)
            before += waiting.popleft()[1]


def _result(future: Future[Piece], before: int) -> Piece:
    try:
        return future.result()
    except LineError as error:
        raise LineError(before + error.line, error.reason) from None


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of whole lines, of about the same size; the last line gets its end where it lacks one."""
    lines = 0
    while block := stream.read(_BLOCK_BYTES):
        rest = stream.readline(_LONGEST_LINE)
        if len(rest) == _LONGEST_LINE:
            raise LineError(lines + 1 + block.count(b"\n"), f"a line of more than {_LONGEST_LINE >> 20} MB")
        block += rest
        if not block.endswith(b"\n"):
            block += b"\n"
        yield block
        lines += block.count(b"\n")


def _read_block(block: bytes, quads: bool, naming: Naming) -> Piece:
    _check_utf8(block)
    if len(block) < _WORTH_A_KERNEL:
        lines = block.split(b"\n")
        return _parsed(lines, np.arange(len(lines)), quads, naming)
    from clausal.graph.rdf.kernel import TEXT, UNUSUAL, scan_lines

    text = np.frombuffer(block, dtype=np.uint8)
    states, kinds, places, starts = scan_lines(text, quads)
    if naming.keep_literals:  # their names are written as pyoxigraph writes them
        states[(states != 0) & (kinds[:, 1] >= TEXT)] = UNUSUAL
    unusual = np.flatnonzero(states == UNUSUAL)
    usual = _usual_tables(text, states, kinds, places, naming)
    if not len(unusual):
        return usual
    lines = [block[starts[line] : starts[line + 1] - 1] for line in unusual]
    return _interleaved(usual, _parsed(lines, unusual, quads, naming))


def _usual_tables(
    text: NDArray[np.uint8],
    states: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    places: NDArray[np.int32],
    naming: Naming,
) -> Piece:
    import pyarrow as pa
    import pyarrow.compute as pc

    from clausal.graph.rdf.kernel import (
        BLANK,
        DATATYPE,
        GRAPH,
        LANGUAGE,
        OBJECT,
        PREDICATE,
        SUBJECT,
        SUFFIX,
        TEXT,
        USUAL,
        gather,
    )

    usual = states == USUAL
    blank = usual & (kinds == BLANK).any(axis=1)
    literal = usual & (kinds[:, 1] >= TEXT)
    if naming.blank is None:
        usual &= ~blank
        literal &= ~blank

    def named(rows: NDArray[np.int64], term: int) -> Any:
        names = gather(text, places[rows, term])
        if naming.blank in (None, "_:") or not blank[rows].any():
            return names
        return pc.replace_substring_regex(names, "^_:", naming.blank)

    facts, literals = np.flatnonzero(usual & ~literal), np.flatnonzero(literal)
    piece = Piece(
        text_table(FACT_COLUMNS, [named(facts, term) for term in (SUBJECT, PREDICATE, OBJECT)]),
        fact_rows=facts,
        literal_rows=literals,
    )
    if naming.blank is None:
        piece.left_out["blank"] = int(blank.sum())
    if len(literals):
        suffixes, kind = gather(text, places[literals, SUFFIX]), kinds[literals, 1]
        languages = pc.if_else(pa.array(kind == LANGUAGE), suffixes, "")
        plain = pc.or_(pa.array(kind != DATATYPE), pc.equal(suffixes, XSD_STRING))
        values = [named(literals, SUBJECT), gather(text, places[literals, PREDICATE])]
        values += [gather(text, places[literals, OBJECT]), languages, pc.if_else(plain, "", suffixes)]
        piece.literals = text_table(LITERAL_COLUMNS, values)
        piece.left_out["literal"] = len(literals)
    graphs = places[(states == USUAL) & (places[:, GRAPH, 1] > 0), GRAPH]
    if len(graphs):
        found = gather(text, graphs).unique().to_pylist()
        piece.add_graphs(hash(name[1:-1] if name[0] == "<" else name[2:]) for name in found)
    return piece


def _parsed(lines: list[bytes], numbers: NDArray[Any], quads: bool, naming: Naming) -> Piece:
    """Parse lines with pyoxigraph; the rows of what they hold are the lines' numbers (from 0).

    Lines are parsed together. Where that gives other than one statement a line, they are parsed one by one, so that no
    statement goes beyond its line.
    """
    from pyoxigraph import RdfFormat, parse

    format = RdfFormat.N_QUADS if quads else RdfFormat.N_TRIPLES
    filled = [index for index, line in enumerate(lines) if _is_filled(line)]
    lines, numbers = [lines[index] for index in filled], numbers[filled]
    found: list[Any] = []
    with suppress(SyntaxError):  # lenient: what an IRI may hold is not checked, as published dumps often break the rule
        found = list(map(_parts, parse(b"\n".join(lines), format=format, lenient=True)))
    if len(found) != len(lines):
        found, owners = [], []
        for line, number in zip(lines, numbers, strict=True):
            try:
                of_line = list(map(_parts, parse(line, format=format, lenient=True)))
            except SyntaxError as error:
                raise LineError(int(number) + 1, error.msg.partition(": ")[2] or error.msg) from None
            found += of_line
            owners += [number] * len(of_line)
        numbers = np.array(owners, dtype=np.int64)
    piece = tables_of(found, naming)
    piece.fact_rows, piece.literal_rows = numbers[piece.fact_rows], numbers[piece.literal_rows]
    return piece


def _is_filled(line: bytes) -> bool:
    stripped = line.strip()
    return bool(stripped) and (not stripped.startswith(b"#") or b"\r" in stripped)


def _parts(statement: Any) -> tuple[Any, Any, Any, Any]:
    return statement.subject, statement.predicate, statement.object, statement.graph_name


def _interleaved(usual: Piece, parsed: Piece) -> Piece:
    """Return both in the order of the lines."""
    import pyarrow as pa

    def merged(some: Any, rows: NDArray[Any], others: Any, other_rows: NDArray[Any]) -> Any:
        if some is None or others is None or not len(rows) or not len(other_rows):
            return some if others is None or not len(other_rows) else others
        order = np.argsort(np.concatenate([rows, other_rows]), kind="stable")
        return pa.concat_tables([some, others]).combine_chunks().take(pa.array(order))

    facts = merged(usual.facts, usual.fact_rows, parsed.facts, parsed.fact_rows)
    literals = merged(usual.literals, usual.literal_rows, parsed.literals, parsed.literal_rows)
    piece = Piece(facts, literals, left_out=usual.left_out + parsed.left_out, relative=parsed.relative)
    piece.add_graphs(usual.graphs | parsed.graphs)
    return piece


def _check_utf8(block: bytes) -> None:
    import pyarrow as pa

    if block.isascii():
        return
    try:
        whole = pa.Array.from_buffers(
            pa.large_string(), 1, [None, pa.py_buffer(np.array([0, len(block)])), pa.py_buffer(block)]
        )
        whole.validate(full=True)
    except pa.ArrowInvalid:
        try:
            block.decode()
        except UnicodeDecodeError as error:
            line = block.count(b"\n", 0, error.start) + 1
            raise LineError(line, f"not UTF-8 (byte 0x{block[error.start]:02x}); save the file as UTF-8") from None
        raise
