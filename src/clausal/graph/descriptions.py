"""Texts that describe entities, by name: from a file of names and texts, or the labels and comments of RDF."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path

from clausal.compression import bare_name
from clausal.errors import InputError, count
from clausal.files import read_text
from clausal.graph.graph import Graph
from clausal.graph.labels import DESCRIBING, Labels

LITERALS = "literals"
"""Instead of a file: the labels, comments and definitions that an RDF graph has itself."""
LONGEST_TEXT = 20_000
"""Characters of a text that are read; what describes an entity says it at its beginning."""

Texts = dict[str, str]
Tell = Callable[[str], None]


def read_texts(source: str | Path, graph: Graph, tell: Tell) -> Texts:
    """Return the texts of a graph's entities by name; what is left out, and what is missing, is told."""
    if source == LITERALS and not Path(source).exists():
        texts = _texts_of_literals(graph)
    else:
        texts = read_text_file(Path(source), tell)
    known = {name: text for name, text in texts.items() if name in graph.entities}
    unknown = [name for name in texts if name not in graph.entities]
    if not known:
        example = f"; its names are such as '{unknown[0]}', and entities such as '{graph.entities[0]}'"
        raise InputError(f"{source}: describes no entity of {graph.name}{example if unknown else ''}")
    if unknown:
        tell(f"{source}: {_of_names(unknown)} that {graph.name} does not have, left out")
    missing = [name for name in graph.entities if name not in known]
    if missing:
        tell(f"{source}: no text for {len(missing):,} of {len(graph.entities):,} entities, such as '{missing[0]}'")
    return known


def _of_names(names: list[str]) -> str:
    return f"{count(len(names), 'text')} for {'a name' if len(names) == 1 else 'names'} such as '{names[0]}'"


def read_text_file(path: Path, tell: Tell) -> Texts:
    """Read names and texts: tab-separated lines, .csv or .parquet of two columns. Texts of one name are joined.

    A first line ``name`` and ``text`` (or ``description``) names the columns. Empty texts are left out.
    """
    rows = _rows_of_parquet(path) if bare_name(path).endswith(".parquet") else _rows_of_text(path)
    found: Texts = {}
    empty: list[str] = []
    long: list[str] = []
    for name, text in rows:
        if not text.strip():
            empty.append(name)
            continue
        if len(text) > LONGEST_TEXT:
            long.append(name)
        found[name] = f"{found[name]} {text[:LONGEST_TEXT]}" if name in found else text[:LONGEST_TEXT]
    if empty:
        tell(f"{path}: {count(len(empty), 'empty text')} left out, such as that of '{empty[0]}'")
    if long:
        are = "is" if len(long) == 1 else "are"
        tell(
            f"{path}: {count(len(long), 'text')} {are} longer than {LONGEST_TEXT:,} characters, such as that of "
            f"'{long[0]}'; only the beginning is read"
        )
    if not found:
        raise InputError(f"{path}: no texts; write a name, a tab and its text on each line")
    return found


def _rows_of_text(path: Path) -> list[tuple[str, str]]:
    content = read_text(path)
    rows: list[tuple[str, str]] = []
    if bare_name(path).endswith(".csv"):
        limit = csv.field_size_limit(len(content) + 1)
        try:
            lines = [row for row in csv.reader(io.StringIO(content)) if row]
        except csv.Error as error:
            raise InputError(f"{path}: not CSV: {error}") from None
        finally:
            csv.field_size_limit(limit)
    else:
        lines = [line.split("\t", 1) for line in content.splitlines() if line.strip()]
    for number, row in enumerate(lines, 1):
        if len(row) < 2 or not row[0].strip():
            raise InputError(
                f"{path}: row {number}: expected a name and a text, separated by a tab (or by a comma in a .csv); "
                f"got '{row[0][:60]}'"
            )
        rows.append((row[0].strip(), " ".join(row[1:])))
    header = {"name", "entity", "id"}, {"text", "description", "label"}
    if rows and rows[0][0].lower() in header[0] and rows[0][1].strip().lower() in header[1]:
        rows = rows[1:]
    return rows


def _rows_of_parquet(path: Path) -> list[tuple[str, str]]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(path).read()
        if table.num_columns < 2:
            raise InputError(f"{path}: expected two columns, names and texts; found {', '.join(table.column_names)}")
        chosen = ("name", "text") if {"name", "text"} <= set(table.column_names) else (0, 1)
        names, texts = (table.column(one).cast(pa.string()).fill_null("").to_pylist() for one in chosen)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: a name or text is not UTF-8 (byte 0x{error.object[error.start]:02x})") from None
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    return list(zip(names, texts, strict=True))


def _texts_of_literals(graph: Graph) -> Texts:
    """Return for each entity its label, comments and definitions, each in the best language for the user."""
    if graph.literals is None or not len(graph.literals):
        raise InputError(
            f"{graph.name}: has no labels or comments; they come with RDF. Give a file of texts: --text FILE"
        )
    return {name: text[:LONGEST_TEXT] for name, text in Labels(graph.literals, properties=DESCRIBING).joined().items()}


def aligned(texts: Mapping[str, str], graph: Graph) -> list[str]:
    """Return the texts in the order of the entities, empty where there is none."""
    return [texts.get(name, "") for name in graph.entities]
