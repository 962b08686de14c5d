"""Facts from a file over a vocabulary that exists, with or without labels: for evaluation on a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.graph.assembly import look_up
from clausal.graph.columns import parse_columns
from clausal.graph.facts import Facts, drop_duplicates
from clausal.graph.graph import Graph
from clausal.graph.tables import bad_row, read_table
from clausal.graph.vocabulary import Names

_LABELS = {"1": True, "+1": True, "true": True, "0": False, "-1": False, "false": False}


def read_facts(path: str | Path, entities: Names, relations: Names, columns: str = "sro") -> Facts:
    """Read facts whose names are all known, repeated ones dropped; an unknown name is an error."""
    fields = parse_columns(columns)
    facts = _known_facts(Path(path), read_table(Path(path), fields), fields, entities, relations)
    return drop_duplicates(facts, len(entities), len(relations))


def read_labelled(path: str | Path, graph: Graph, columns: str = "sro") -> tuple[Facts, NDArray[np.bool_]]:
    """Read facts with a label in the fourth column: 1 or true, or else 0, -1 or false."""
    import pyarrow.compute as pc

    path, fields = Path(path), parse_columns(columns, labelled=True)
    table = read_table(path, fields)
    encoded = pc.dictionary_encode(table.column("label")).combine_chunks()
    words = [_LABELS.get(word.strip().casefold()) for word in encoded.dictionary.to_pylist()]
    indices = encoded.indices.to_numpy()
    if None in words:
        row = int(np.isin(indices, [index for index, word in enumerate(words) if word is None]).argmax())
        raise bad_row(path, fields, _label_complaint, row)
    labels = np.array(words, dtype=np.bool_)[indices]
    return _known_facts(path, table, fields, graph.entities, graph.relations), labels


def _known_facts(path: Path, table: Any, fields: Sequence[str], entities: Names, relations: Names) -> Facts:
    facts = look_up(table, entities, relations)
    unknown = (facts < 0).any(axis=1)
    if unknown.any():
        kinds = {"subject": entities, "relation": relations, "object": entities}

        def complaint(row: Mapping[str, str]) -> str | None:
            for field, names in kinds.items():
                if row[field] not in names:
                    return f"unknown {names.kind} '{row[field]}'{names.suggestion(row[field])}"
            return None

        raise bad_row(path, fields, complaint, int(unknown.argmax()))
    return facts


def _label_complaint(row: Mapping[str, str]) -> str | None:
    if row["label"].strip().casefold() in _LABELS:
        return None
    return f"label '{row['label']}'; expected 1 or true for a true fact, 0, -1 or false for a false one"
