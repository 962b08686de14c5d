"""From tables of names to a graph: a sorted vocabulary, facts as ids, duplicates dropped, oddities noted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError
from clausal.graph.encoding import encode
from clausal.graph.facts import Facts, distinct_facts, found_in, no_facts
from clausal.graph.graph import Graph
from clausal.graph.vocabulary import Names


def build_graph(tables: Mapping[str, Any], *, name: str) -> Graph:
    """Build a graph from tables of names by split; the vocabulary is that of all splits, sorted by name."""
    if "train" not in tables or tables["train"].num_rows == 0:
        raise InputError(f"{name}: train holds no facts")
    lengths = [table.num_rows for table in tables.values()]
    columns = {field: _joined(tables.values(), field) for field in ("subject", "relation", "object")}
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:  # pyarrow and numpy work without the interpreter
        relation_names, (relation_ids,) = encode([columns["relation"]], pool)
        entity_names, (subject_ids, object_ids) = encode([columns["subject"], columns["object"]], pool)
    facts = np.empty((sum(lengths), 3), dtype=np.int32)
    facts[:, 0], facts[:, 1], facts[:, 2] = subject_ids, relation_ids, object_ids
    sizes = len(entity_names), len(relation_names)
    whole = dict(zip(tables, np.split(facts, np.cumsum(lengths)[:-1]), strict=True))
    splits, keys = {}, {}
    for split, rows in whole.items():
        splits[split], keys[split] = distinct_facts(rows, *sizes)
    return Graph(
        entities=Names(entity_names.to_pylist(), "entity"),
        relations=Names(relation_names.to_pylist(), "relation"),
        train=splits["train"],
        valid=splits.get("valid", no_facts()),
        test=splits.get("test", no_facts()),
        name=name,
        duplicates={
            split: len(rows) - len(splits[split]) for split, rows in whole.items() if len(rows) > len(splits[split])
        },
        notes=tuple(_oddities(splits, keys, *sizes)) if len(splits) > 1 else (),
    )


def look_up(table: Any, entities: Names, relations: Names) -> Facts:
    """Return the facts of a table of names over an existing vocabulary, with -1 for an unknown name."""
    import pyarrow as pa
    import pyarrow.compute as pc

    facts = np.empty((table.num_rows, 3), dtype=np.int32)
    known = {names.kind: pa.array(list(names), pa.string()) for names in (entities, relations)}
    kinds = {"subject": entities.kind, "relation": relations.kind, "object": entities.kind}
    for index, (field, kind) in enumerate(kinds.items()):
        facts[:, index] = pc.fill_null(pc.index_in(table.column(field), value_set=known[kind]), -1).to_numpy()
    return facts


def _joined(tables: Iterable[Any], field: str) -> Any:
    import pyarrow as pa

    return pa.chunked_array([chunk for table in tables for chunk in table.column(field).chunks], type=pa.string())


def _oddities(
    splits: Mapping[str, Facts], keys: Mapping[str, NDArray[np.int64]], entities: int, relations: int
) -> Iterable[str]:
    seen_entities = np.zeros(entities, dtype=np.bool_)
    seen_entities[splits["train"][:, 0]] = seen_entities[splits["train"][:, 2]] = True
    seen_relations = np.zeros(relations, dtype=np.bool_)
    seen_relations[splits["train"][:, 1]] = True
    for split, other in (("valid", "train"), ("test", "train"), ("test", "valid")):
        if split in splits and other in splits:
            repeated = int(found_in(keys[split], keys[other]).sum())
            yield from _note(repeated, split, "also occur", "also occurs", f"in {other}")
    for split in sorted(set(splits) - {"train"}, reverse=True):
        facts = splits[split]
        unseen = int((~seen_entities[facts[:, [0, 2]]].all(axis=1)).sum())
        yield from _note(unseen, split, "hold", "holds", "an entity that train does not have")
        unseen = int((~seen_relations[facts[:, 1]]).sum())
        yield from _note(unseen, split, "hold", "holds", "a relation that train does not have")


def _note(count: int, split: str, plural: str, singular: str, rest: str) -> Iterable[str]:
    if count:
        yield (f"{count:,} facts of {split} {plural} {rest}" if count > 1 else f"1 fact of {split} {singular} {rest}")
