"""Facts of files over the vocabulary of a graph: parts of its test facts, facts to evaluate, facts with labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.files import enough_memory_to_read
from clausal.graph.assembly import look_up
from clausal.graph.bad_lines import Complaint
from clausal.graph.columns import Columns, parse_columns
from clausal.graph.facts import Facts, drop_duplicates, occur_in
from clausal.graph.graph import Graph
from clausal.graph.layout import stem_and_ending
from clausal.graph.rdf import RDF_ENDINGS
from clausal.graph.tables import bad_row, read_table
from clausal.graph.truth_labels import read_label
from clausal.graph.vocabulary import Names


def read_parts(paths: Mapping[str, Path], columns: Columns, graph: Graph) -> dict[str, Facts]:
    """Read the named parts of a graph's test facts; a fact that is not among these is an error."""
    parts = {}
    sizes = len(graph.entities), len(graph.relations)
    for part, path in paths.items():
        table = read_table(path, columns, _nobody)
        facts = look_up(table, graph.entities, graph.relations)
        outside = np.asarray((facts < 0).any(axis=1))
        outside[~outside] = ~occur_in(facts[~outside], graph.test, *sizes)
        outside &= ~_may_be_unknown(path, table, facts)
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            example = {field: table.column(field)[row].as_py() for field in columns.fields}
            raise bad_row(path, columns, _not_in_test(example, part, int(outside.sum())), row)
        parts[part] = drop_duplicates(facts[(facts >= 0).all(axis=1)], *sizes)
    return parts


def _not_in_test(example: Mapping[str, str], part: str, count: int) -> Complaint:
    names = " ".join(example[field] for field in ("subject", "relation", "object"))
    others = f", nor are {count - 1:,} others" if count > 1 else ""
    message = f"'{names}' is not in test{others}; {part} must be a part of test"
    return lambda row: message if row == example else None


def read_facts(
    path: str | Path, entities: Names, relations: Names, columns: str | Sequence[str] = "sro", header: str = "auto"
) -> Facts:
    """Read facts whose names are all known, repeated ones dropped; an unknown name is an error."""
    chosen = parse_columns(columns, header)
    with enough_memory_to_read(path):
        facts = _known_facts(Path(path), read_table(Path(path), chosen, _nobody), chosen, entities, relations)
        facts = facts[(facts >= 0).all(axis=1)]
        return drop_duplicates(facts, len(entities), len(relations))


def read_labelled(
    path: str | Path, graph: Graph, columns: str | Sequence[str] = "sro", header: str = "auto"
) -> tuple[Facts, NDArray[np.bool_]]:
    """Read facts with a label in the fourth column: 1 or true, or else 0, -1 or false."""
    with enough_memory_to_read(path):
        return _read_labelled(Path(path), graph, parse_columns(columns, header, labelled=True))


def _read_labelled(path: Path, graph: Graph, columns: Columns) -> tuple[Facts, NDArray[np.bool_]]:
    import pyarrow.compute as pc

    table = read_table(path, columns, _nobody)
    encoded = pc.dictionary_encode(table.column("label")).combine_chunks()
    words = [read_label(word) for word in encoded.dictionary.to_pylist()]
    indices = encoded.indices.to_numpy()
    if None in words:
        row = int(np.isin(indices, [index for index, word in enumerate(words) if word is None]).argmax())
        raise bad_row(path, columns, _label_complaint, row)
    labels = np.array(words, dtype=np.bool_)[indices]
    return _known_facts(path, table, columns, graph.entities, graph.relations), labels


def _known_facts(path: Path, table: Any, columns: Columns, entities: Names, relations: Names) -> Facts:
    facts = look_up(table, entities, relations)
    unknown = (facts < 0).any(axis=1) & ~_may_be_unknown(path, table, facts)
    if unknown.any():
        raise bad_row(path, columns, unknown_name(entities, relations), int(unknown.argmax()))
    return facts


def unknown_name(entities: Names, relations: Names) -> Complaint:
    """Return what says of a row which of its names is unknown, and the nearest known one."""
    kinds = {"subject": entities, "relation": relations, "object": entities}

    def complaint(row: Mapping[str, str]) -> str | None:
        for field, names in kinds.items():
            if row[field].strip() not in names:
                return f"unknown {names.kind} '{row[field]}'{names.suggestion(row[field])}"
        return None

    return complaint


def _may_be_unknown(path: Path, table: Any, facts: Facts) -> NDArray[np.bool_]:
    """Mark the facts of an RDF file whose subject or object is a literal or a blank node that the graph left out."""
    import pyarrow.compute as pc

    marked = np.zeros(len(facts), dtype=np.bool_)
    if stem_and_ending(path)[1] in RDF_ENDINGS:
        for column, field in ((0, "subject"), (2, "object")):
            no_iri = pc.match_substring_regex(table.column(field), '^("|_:)').to_numpy()
            marked |= (facts[:, column] < 0) & no_iri
    return marked


def _label_complaint(row: Mapping[str, str]) -> str | None:
    if read_label(row["label"]) is not None:
        return None
    return f"label '{row['label']}'; expected 1 or true for a true fact, 0, -1 or false for a false one"


def _nobody(_: str) -> None:
    """Hear what was left out of facts that are only looked up."""
