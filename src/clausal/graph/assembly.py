"""From tables of names to a graph: a sorted vocabulary, facts as ids, duplicates dropped, oddities noted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError
from clausal.graph.facts import Facts, drop_duplicates, fact_keys, found_in, no_facts
from clausal.graph.graph import Graph
from clausal.graph.vocabulary import Names


def build_graph(tables: Mapping[str, Any], *, name: str) -> Graph:
    """Build a graph from tables of names by split; the vocabulary is that of all splits, sorted by name."""
    if "train" not in tables or tables["train"].num_rows == 0:
        raise InputError(f"{name}: train holds no facts")
    lengths = [table.num_rows for table in tables.values()]
    with ThreadPoolExecutor(max_workers=3) as pool:  # pyarrow hashes without holding the interpreter
        subjects, relations, objects = pool.map(
            lambda field: _encode(chunk for table in tables.values() for chunk in table.column(field).chunks),
            ("subject", "relation", "object"),
        )
    entity_names, (subject_ids, object_ids) = _sorted_vocabulary([subjects, objects])
    relation_names, (relation_ids,) = _sorted_vocabulary([relations])
    facts = np.empty((sum(lengths), 3), dtype=np.int32)
    facts[:, 0], facts[:, 1], facts[:, 2] = subject_ids, relation_ids, object_ids
    sizes = len(entity_names), len(relation_names)
    whole = dict(zip(tables, np.split(facts, np.cumsum(lengths)[:-1]), strict=True))
    splits = {split: drop_duplicates(rows, *sizes) for split, rows in whole.items()}
    return Graph(
        entities=Names(entity_names, "entity"),
        relations=Names(relation_names, "relation"),
        train=splits["train"],
        valid=splits.get("valid", no_facts()),
        test=splits.get("test", no_facts()),
        name=name,
        duplicates={
            split: len(rows) - len(splits[split]) for split, rows in whole.items() if len(rows) > len(splits[split])
        },
        notes=tuple(_oddities(splits, *sizes)) if len(splits) > 1 else (),
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


def _encode(chunks: Iterable[Any]) -> tuple[Any, NDArray[np.int32]]:
    """Return the distinct names of a column and each row's position among them."""
    import pyarrow as pa

    encoded = pa.chunked_array(list(chunks), type=pa.string()).dictionary_encode()
    indices = [chunk.indices.to_numpy() for chunk in encoded.chunks]
    return encoded.chunk(encoded.num_chunks - 1).dictionary, np.concatenate(indices)


def _sorted_vocabulary(
    columns: list[tuple[Any, NDArray[np.int32]]],
) -> tuple[list[str], list[NDArray[np.int32]]]:
    """Merge the names of encoded columns into one sorted vocabulary; return it and each column's ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    merged = pa.concat_arrays([dictionary for dictionary, _ in columns]).dictionary_encode()
    order = pc.array_sort_indices(merged.dictionary)  # by UTF-8 bytes, which is Python's order of strings
    rank = np.empty(len(order), dtype=np.int32)
    rank[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    ids = np.split(rank[merged.indices.to_numpy()], np.cumsum([len(names) for names, _ in columns])[:-1])
    vocabulary: list[str] = merged.dictionary.take(order).to_pylist()
    return vocabulary, [ids_of[rows] for ids_of, (_, rows) in zip(ids, columns, strict=True)]


def _oddities(splits: Mapping[str, Facts], entities: int, relations: int) -> Iterable[str]:
    seen_entities = np.zeros(entities, dtype=np.bool_)
    seen_entities[splits["train"][:, 0]] = seen_entities[splits["train"][:, 2]] = True
    seen_relations = np.zeros(relations, dtype=np.bool_)
    seen_relations[splits["train"][:, 1]] = True
    keys = {split: np.sort(fact_keys(facts, entities, relations)) for split, facts in splits.items()}
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
