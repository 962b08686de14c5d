"""RDF files of any syntax, also compressed ones, as statements; a file that cannot be read is one message."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from clausal.errors import InputError
from clausal.files import READING_ERRORS, bare_name, cannot_read, check_regular, compression_of, decompressed
from clausal.graph.rdf.lines import LineError, read_lines
from clausal.graph.rdf.statements import RdfOptions, Statements, join_statements
from clausal.graph.rdf.syntax import check_xml_entities, syntax_of, xml_prefixes
from clausal.graph.rdf.terms import Naming, tables_of
from clausal.observer import Observer

_BATCH = 100_000  # statements
_BEGINNING = 1 << 16  # bytes by which a syntax is recognised
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MEGABYTE = 1_000_000
_NAMES = {
    "TURTLE": "Turtle",
    "N3": "N3",
    "N_TRIPLES": "N-Triples",
    "N_QUADS": "N-Quads",
    "TRIG": "TriG",
    "RDF_XML": "RDF/XML",
    "JSON_LD": "JSON-LD",
}
_EXPECTED = {"N_TRIPLES": "'<subject> <relation> <object> .'", "N_QUADS": "'<subject> <relation> <object> <graph> .'"}
_REMOTE_CONTEXT = "LoadDocumentCallback"


def read_rdf(
    path: Path, options: RdfOptions, *, scope: str | None = None, number: int = 0, observer: Observer | None = None
) -> Statements:
    """Return what an RDF file says.

    Blank nodes are those of the file: where several files make a graph, ``number`` (from 1) tells kept ones apart.
    Their IRIs are made of ``scope``, the file's name unless it is given.
    """
    ending = Path(bare_name(path)).suffix.lower()
    naming = Naming(options.literals == "keep", _blank_start(options, scope or path.name, number), options.base)
    syntax = "RDF"
    try:
        with _opened(path) as (stream, advanced):
            beginning = _beginning(stream)
            syntax = syntax_of(ending, beginning)
            if syntax in _EXPECTED:
                statements = join_statements(
                    [_nothing(), *read_lines(stream, syntax == "N_QUADS", naming, lambda: advanced(observer))]
                )
            else:
                naming.unlabelled = True
                statements = _read_document(path, stream, syntax, naming, lambda: advanced(observer))
            if syntax == "RDF_XML":
                statements.prefixes = xml_prefixes(beginning)
    except LineError as error:
        expected = _EXPECTED[syntax]
        raise InputError(f"{path}:{error.line}: not {_NAMES[syntax]}: {error.reason}; expected {expected}") from None
    except SyntaxError as error:
        raise _explain(path, syntax, error) from None
    except READING_ERRORS as error:
        raise cannot_read(path, error) from None
    return statements


def line_of_fact(path: Path, row: int) -> int | None:
    """Return the line of fact number ``row`` (from 0) of a file whose literals and blank nodes are all kept.

    Syntaxes of which a line is not a fact have none.
    """
    if Path(bare_name(path)).suffix.lower() not in (".nt", ".nq"):
        return None
    with _opened(path) as (stream, _):
        stripped = ((number, line.strip()) for number, line in enumerate(stream, start=1))
        facts = (number for number, line in stripped if line and not line.startswith(b"#") and b"<<(" not in line)
        return next(islice(facts, row, None), None)


class _opened:  # noqa: N801  used as a context
    """An RDF file without byte order mark, with a function that tells an observer how much of it is read."""

    def __init__(self, path: Path) -> None:
        check_regular(path)
        self.path, self.size = path, path.stat().st_size
        self.file = path.open("rb")
        content: Any = decompressed(self.file, compression_of(path))
        self.stream = io.BufferedReader(content, _BEGINNING)

    def __enter__(self) -> tuple[BinaryIO, Callable[[Observer | None], None]]:
        try:
            if self.stream.peek(3)[:3] == _BYTE_ORDER_MARK:
                self.stream.read(3)
        except BaseException:
            self.stream.close()
            raise
        return self.stream, self.advanced

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def advanced(self, observer: Observer | None) -> None:
        """Tell how many megabytes of the file, as it is on the disk, are read."""
        if observer is not None and self.size > 16 * _MEGABYTE:
            done = self.file.tell() // _MEGABYTE
            observer.advanced(f"reading {self.path.name}", done, self.size // _MEGABYTE, "MB")


def _beginning(stream: Any) -> str:
    return stream.peek(_BEGINNING)[:_BEGINNING].decode("utf-8", errors="replace")


def _nothing() -> Statements:
    return tables_of([], Naming(False, None))


def _blank_start(options: RdfOptions, scope: str, number: int) -> str | None:
    if options.blank_nodes == "skip":
        return None
    if options.blank_nodes == "keep":
        return f"_:file{number}-" if number else "_:"
    return f"urn:clausal:blank:{quote(scope, safe='')}:"


def _read_document(
    path: Path, stream: BinaryIO, syntax: str, naming: Naming, advanced: Callable[[], None]
) -> Statements:
    from pyoxigraph import RdfFormat, parse

    if syntax == "RDF_XML":
        _check_entities(path)
    # Lenient: what an IRI may hold is not checked, since published dumps often break the rule.
    parser = parse(stream, format=getattr(RdfFormat, syntax), base_iri=naming.base, lenient=True)
    quads: Iterator[Any] = ((quad.subject, quad.predicate, quad.object, quad.graph_name) for quad in parser)
    if syntax == "N3":
        quads = _asserted(quads)
    batches = [_nothing()]
    while batch := list(islice(quads, _BATCH)):
        batches.append(tables_of(batch, naming))
        advanced()
    statements = join_statements(batches)
    statements.prefixes = dict(parser.prefixes)
    return statements


def _asserted(quads: Iterator[tuple[Any, Any, Any, Any]]) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Leave out what formulas of N3 hold, which nobody asserts."""
    from pyoxigraph import DefaultGraph

    return (quad for quad in quads if type(quad[3]) is DefaultGraph)


def _check_entities(path: Path) -> None:
    with _opened(path) as (stream, _):
        before, found = b"", False
        while not found and (piece := stream.read(1 << 20)):
            found = b"<!ENTITY" in before + piece
            before = piece[-8:]
    if found:
        with _opened(path) as (stream, _):
            check_xml_entities(str(path), stream.read().decode("utf-8", errors="replace"), "the graph")


def _explain(path: Path, syntax: str, error: SyntaxError) -> InputError:
    if _REMOTE_CONTEXT in error.msg:
        return InputError(f"{path}: its @context is a link, and nothing is fetched; write the context into the file")
    place, reason = str(path), error.msg
    if error.lineno:
        place, reason = f"{path}:{error.lineno}", error.msg.partition(": ")[2] or error.msg
    elif syntax == "RDF_XML":
        place = f"{path}{_line_of_bad_xml(path)}"
    return InputError(f"{place}: not {_NAMES.get(syntax, 'RDF')}: {reason}")


def _line_of_bad_xml(path: Path) -> str:
    """Return ``:7`` for the line that is not XML, which pyoxigraph does not tell, or nothing if all are."""
    from xml.parsers import expat

    with _opened(path) as (stream, _):
        try:
            expat.ParserCreate().ParseFile(stream)
        except expat.ExpatError as error:
            return f":{error.lineno}"
    return ""
