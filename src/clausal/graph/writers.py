"""Facts to files, by name: text, Parquet, N-Triples or Turtle, under a temporary name until they are whole."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from clausal.choices import BASE_IRI
from clausal.errors import InputError
from clausal.files import atomic_file, atomic_folder, check_file_target, check_new_folder, compression_of, sync
from clausal.graph.columns import FACT, recognise
from clausal.graph.facts import Facts
from clausal.graph.graph import Graph, check_part_name
from clausal.graph.headers import reason_for_header
from clausal.graph.layout import stem_and_ending
from clausal.graph.rdf_names import Place, abbreviated, rdf_literal, rdf_term
from clausal.graph.separators import SAMPLE_ROWS
from clausal.graph.vocabulary import Names

_TEXT_ENDINGS = ("", ".txt", ".tsv", ".tab")
_RDF_ENDINGS = (".nt", ".ttl")
_CHUNK = 1 << 18  # facts whose names are held in memory at a time
_BREAKS_LINES = r"[\t\r\n]"


def write_facts(
    path: str | Path,
    facts: Facts,
    entities: Names,
    relations: Names,
    *,
    base: str = BASE_IRI,
    prefixes: Mapping[str, str] | None = None,
    literals: Any = None,
) -> None:
    """Write facts as tab-separated text, or as Parquet, N-Triples or Turtle to a file of that ending.

    ``.gz`` is compressed. In RDF, names that are no IRIs stand behind ``base``, percent-encoded, ``literals`` (as in
    ``Graph.literals``) follow the facts, and Turtle uses the ``prefixes``. The file appears under its name when it is
    whole, in the place of one that was there.
    """
    path = Path(path)
    check_target(path)
    ending = stem_and_ending(path)[1]
    first = last = b""
    if ending in _RDF_ENDINGS:
        declared = prefixes if prefixes and ending == ".ttl" else {}
        used = dict(sorted(declared.items(), key=lambda pair: -len(pair[1])))  # of two that fit, the longer one
        columns = (
            _terms(entities, base, "subject", used),
            _terms(relations, base, "relation", used),
            _terms(entities, base, "object", used),
        )
        first = "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in used.items()).encode()
        last = "".join(_literal_lines(literals, base)).encode() if literals is not None else b""
    else:
        names = _arrow_names(entities), _arrow_names(relations)
        columns = names[0], names[1], names[0]
        if ending != ".parquet":
            _refuse_line_breaks(path, *names)
    with atomic_file(path) as temporary:
        _fill(temporary, path, facts, columns, first, last)


def check_target(path: Path) -> None:
    """Refuse a file that facts could not be written to, before any work is done for it."""
    ending = stem_and_ending(path)[1]
    known = ending in (*_TEXT_ENDINGS, *_RDF_ENDINGS, ".parquet") and compression_of(path) in (None, "gzip")
    if not known:
        given = path.suffix if compression_of(path) else ending
        raise InputError(
            f"{path}: facts are written as .tsv, .txt, .parquet, .nt or .ttl, or with .gz behind it, not '{given}'"
        )
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
                _fill(path, path, facts, (names[0], names[1], names[0]))
                sync(path)


def _fill(
    path: Path, target: Path, facts: Facts, columns: tuple[Any, Any, Any], first: bytes = b"", last: bytes = b""
) -> None:
    """Write facts to ``path`` in the format of ``target``, by its ending; ``columns`` name what ids stand for.

    ``first`` and ``last`` stand before and behind the facts.
    """
    ending = stem_and_ending(target)[1]
    write = _write_parquet if ending == ".parquet" else _write_rdf if ending in _RDF_ENDINGS else _write_text
    with path.open("wb") as file:
        if compression_of(target) == "gzip":
            # Without a name and a time in its header, so that the same facts are the same bytes.
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as stream:
                stream.write(first)
                write(cast(BinaryIO, stream), facts, columns)
                stream.write(last)
        else:
            file.write(first)
            write(file, facts, columns)
            file.write(last)


def _write_text(stream: BinaryIO, facts: Facts, names: tuple[Any, Any, Any]) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    for start, table in enumerate(_tables(facts, names)):
        if start == 0 and _needs_header(table.slice(0, SAMPLE_ROWS)):
            taken = pc.is_in(pa.scalar("relation"), value_set=names[1]).as_py()  # then it may stand in a fact
            stream.write(b"head\tpredicate\ttail\n" if taken else b"subject\trelation\tobject\n")
        _write_lines(stream, table, "\t", "\n")


def _write_rdf(stream: BinaryIO, facts: Facts, terms: tuple[Any, Any, Any]) -> None:
    """Write N-Triples, which is Turtle too."""
    for table in _tables(facts, terms):
        _write_lines(stream, table, " ", " .\n")


def _write_lines(stream: BinaryIO, table: Any, between: str, end: str) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    subjects, relations, objects = (column.cast(pa.large_string()) for column in table.columns)
    separator, ending, nothing = (pa.scalar(text, pa.large_string()) for text in (between, end, ""))
    ended = pc.binary_join_element_wise(objects, ending, nothing)
    lines = pc.binary_join_element_wise(subjects, relations, ended, separator)
    for chunk in lines.chunks:
        stream.write(chunk.buffers()[2])  # the text of all lines, one behind the other


def _needs_header(table: Any) -> bool:
    """Say whether a reader could take the first lines for something else than facts, unless a header is above them."""
    first, *others = zip(*(column.to_pylist() for column in table.columns), strict=True)
    quoted = all(name[0] == name[-1] == '"' for name in first)
    known = recognise(first) is not None or reason_for_header(first, others) is not None
    return known or quoted or first[0][0] in "\ufeff#{<@"


def _write_parquet(stream: BinaryIO, facts: Facts, names: tuple[Any, Any, Any]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(field, pa.string()) for field in FACT])
    with pq.ParquetWriter(stream, schema) as writer:
        for table in _tables(facts, names):
            writer.write_table(table)


def _tables(facts: Facts, names: tuple[Any, Any, Any]) -> Iterator[Any]:
    import pyarrow as pa

    for start in range(0, len(facts), _CHUNK):
        rows = facts[start : start + _CHUNK]
        columns = [column.take(pa.array(rows[:, i])) for i, column in enumerate(names)]
        yield pa.table(columns, names=list(FACT))


def _arrow_names(names: Names) -> Any:
    import pyarrow as pa

    return pa.array(list(names), pa.string())


def _terms(names: Names, base: str, place: Place, prefixes: Mapping[str, str]) -> Any:
    import pyarrow as pa

    return pa.array([abbreviated(rdf_term(name, base, place=place), prefixes) for name in names], pa.string())


def _literal_lines(literals: Any, base: str) -> Iterator[str]:
    """Write the texts and numbers of entities as N-Triples."""
    for row in literals.to_pylist():
        subject, property = (rdf_term(row[key], base, place="subject") for key in ("subject", "property"))
        yield f"{subject} {property} {rdf_literal(row['value'], row['language'], row['datatype'])} .\n"


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
