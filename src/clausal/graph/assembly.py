"""From tables of names to a graph: a sorted vocabulary, facts as ids, duplicates dropped, oddities noted.

Names become ids by hash tables. One of millions of names misses the processor's cache at each row. So where there are
many names, rows are first dealt into buckets by the bytes of their names, equal names into the same bucket, and each
bucket has a small table of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError
from clausal.graph.facts import Facts, distinct_facts, found_in, no_facts
from clausal.graph.graph import Graph
from clausal.graph.odd_names import missing_values, note_on_spaces, padded, trimmed
from clausal.graph.vocabulary import Names

Ids = NDArray[np.int32]

_FEW_NAMES = 1 << 16
_ROWS_LOOKED_AT = 1 << 18
_BUCKETS = 256
_NAMES_IN_A_RANGE = 1 << 18
_SAMPLE = 64  # names looked at for each border between two ranges


def build_graph(tables: Mapping[str, Any], *, name: str, notes: Sequence[str] = ()) -> Graph:
    """Build a graph from tables of names by split; the vocabulary is that of all splits, sorted by name.

    ``notes`` are what the reading found. Spaces around names are taken off.
    """
    if "train" not in tables or tables["train"].num_rows == 0:
        raise InputError(f"{name}: train holds no facts")
    lengths = [table.num_rows for table in tables.values()]
    columns = {field: _joined(tables.values(), field) for field in ("subject", "relation", "object")}
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:  # pyarrow and numpy work without the interpreter
        relation_names, (relation_ids,) = encode([columns["relation"]], pool)
        entity_names, (subject_ids, object_ids) = encode([columns["subject"], columns["object"]], pool)
    if spaced := [*padded(entity_names), *padded(relation_names)]:
        without = {split: trimmed(table) for split, table in tables.items()}
        return build_graph(without, name=name, notes=[*notes, note_on_spaces(spaced)])
    facts = np.empty((sum(lengths), 3), dtype=np.int32)
    facts[:, 0], facts[:, 1], facts[:, 2] = subject_ids, relation_ids, object_ids
    sizes = len(entity_names), len(relation_names)
    whole = dict(zip(tables, np.split(facts, np.cumsum(lengths)[:-1]), strict=True))
    splits, keys = {}, {}
    for split, rows in whole.items():
        splits[split], keys[split] = distinct_facts(rows, *sizes)
    entities, relations = entity_names.to_pylist(), relation_names.to_pylist()
    words = dict.fromkeys([*missing_values(entities), *missing_values(relations)])
    doubts = [f"'{word}' is read as a name; if it stands for a missing value, take its facts out" for word in words]
    return Graph(
        entities=Names(entities, "entity"),
        relations=Names(relations, "relation"),
        train=splits["train"],
        valid=splits.get("valid", no_facts()),
        test=splits.get("test", no_facts()),
        name=name,
        duplicates={
            split: len(rows) - len(splits[split]) for split, rows in whole.items() if len(rows) > len(splits[split])
        },
        notes=(*notes, *doubts, *(_oddities(splits, keys, *sizes) if len(splits) > 1 else ())),
    )


def look_up(table: Any, entities: Names, relations: Names) -> Facts:
    """Return the facts of a table of names over an existing vocabulary, with -1 for an unknown name."""
    facts = np.empty((table.num_rows, 3), dtype=np.int32)
    for index, (field, names) in enumerate({"subject": entities, "relation": relations, "object": entities}.items()):
        encoded = table.column(field).dictionary_encode().combine_chunks()
        given = encoded.dictionary.to_pylist()
        ids = names.ids(given)
        for place in np.flatnonzero(ids < 0):
            ids[place] = names.ids([given[place].strip()])[0]
        facts[:, index] = ids[encoded.indices.to_numpy()]
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


class _Encoded(NamedTuple):
    """The rows of a chunk in some order, and the position of each one's name among the distinct names."""

    rows: Any  # an index: all rows, or a permutation of them
    positions: Ids


def encode(columns: Sequence[Any], pool: ThreadPoolExecutor) -> tuple[Any, list[Ids]]:
    """Return the sorted distinct names of some pyarrow columns, as one array, and the ids of each column's rows."""
    import pyarrow as pa

    chunks = [chunk for column in columns for chunk in column.chunks if len(chunk)]
    names, encoded = _encode_together(chunks, pool) if _has_few_names(chunks) else _encode_in_buckets(chunks, pool)
    order = sorted_order(names, pool)
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)

    def ids_of(chunk: _Encoded) -> Ids:
        ids = np.empty(len(chunk.positions), dtype=np.int32)
        ids[chunk.rows] = ranks[chunk.positions]
        return ids

    ids = np.concatenate(list(pool.map(ids_of, encoded)))
    return names.take(pa.array(order)), np.split(ids, np.cumsum([len(column) for column in columns])[:-1])


def _has_few_names(chunks: Sequence[Any]) -> bool:
    """Tell from some chunks whether a hash table of all names is small; chunks of long names have few rows each."""
    import pyarrow as pa

    largest = max(map(len, chunks))
    wanted = 1 + _ROWS_LOOKED_AT // largest
    sample = pa.chunked_array(chunks[:: max(1, len(chunks) // wanted)])
    return len(sample.unique()) <= _FEW_NAMES


def sorted_order(names: Any, pool: ThreadPoolExecutor) -> NDArray[np.intp]:
    """Return the positions of an array's distinct names in the order of their UTF-8 bytes, which is Python's too.

    Millions of names are first divided into ranges, which are sorted side by side and stay in the cache.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    ranges = 1 + len(names) // _NAMES_IN_A_RANGE
    sample = names.take(pa.array(np.linspace(0, len(names) - 1, _SAMPLE * ranges).astype(np.int64)))
    sample = sample.take(pc.array_sort_indices(sample))
    borders = [sample[_SAMPLE * number] for number in range(1, ranges)]
    range_of = np.zeros(len(names), dtype=np.int16)
    for above in pool.map(lambda border: pc.greater_equal(names, border), borders):
        range_of += above.to_numpy(zero_copy_only=False)

    def sort_range(number: int) -> NDArray[np.intp]:
        members = np.flatnonzero(range_of == number)
        order: NDArray[np.intp] = members[pc.array_sort_indices(names.take(pa.array(members))).to_numpy()]
        return order

    return np.concatenate(list(pool.map(sort_range, range(ranges))))


def _encode_together(chunks: Sequence[Any], pool: ThreadPoolExecutor) -> tuple[Any, list[_Encoded]]:
    """Encode chunk by chunk, then bring the chunks' names together."""
    import pyarrow as pa

    encoded = pa.chunked_array(list(pool.map(lambda chunk: chunk.dictionary_encode(), chunks))).unify_dictionaries()
    names = encoded.chunk(encoded.num_chunks - 1).dictionary
    return names, [_Encoded(slice(None), chunk.indices.to_numpy()) for chunk in encoded.chunks]


def _encode_in_buckets(chunks: Sequence[Any], pool: ThreadPoolExecutor) -> tuple[Any, list[_Encoded]]:
    """Deal the rows of each chunk into buckets, then encode bucket by bucket."""
    import pyarrow as pa

    dealt = list(pool.map(_deal, chunks))

    def encode_bucket(bucket: int) -> tuple[Any, Ids]:
        pieces = [names[starts[bucket] : starts[bucket + 1]] for _, names, starts in dealt]
        encoded = pa.chunked_array(pieces, type=pa.string()).dictionary_encode().chunks  # all have one dictionary
        if not encoded:
            return pa.array([], pa.string()), np.empty(0, dtype=np.int32)
        return encoded[-1].dictionary, np.concatenate([chunk.indices.to_numpy() for chunk in encoded])

    dictionaries, positions = zip(*pool.map(encode_bucket, range(_BUCKETS)), strict=True)
    before = np.cumsum([0, *map(len, dictionaries)], dtype=np.int32)
    sizes = np.array([np.diff(starts) for _, _, starts in dealt])  # [chunks, buckets]
    ends = np.cumsum(sizes, axis=0)

    def positions_in(chunk: int) -> _Encoded:
        pieces = [
            positions[bucket][ends[chunk, bucket] - sizes[chunk, bucket] : ends[chunk, bucket]] + before[bucket]
            for bucket in range(_BUCKETS)
        ]
        return _Encoded(dealt[chunk][0], np.concatenate(pieces))

    return pa.concat_arrays(dictionaries), list(pool.map(positions_in, range(len(chunks))))


def _deal(chunk: Any) -> tuple[NDArray[np.intp], Any, NDArray[np.intp]]:
    """Return a chunk's rows in the order of their buckets, the names in that order, and where each bucket starts.

    A name's bucket is the sum of its mixed bytes, modulo 256.
    """
    import pyarrow as pa

    _, offsets, text = chunk.buffers()
    starts = np.frombuffer(offsets, dtype=np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    content = np.frombuffer(text or b"", dtype=np.uint8)[starts[0] : starts[-1]]
    mixed = np.zeros(len(content) + 1, dtype=np.uint8)  # ends in a zero, for names that are empty
    np.multiply(content, 37, out=mixed[:-1])  # digits are neighbours; this spreads their sums
    mixed[:-1] ^= content >> 1
    mixed[:-1] *= content
    bucket = np.add.reduceat(mixed, starts[:-1] - starts[0], dtype=np.uint8)  # bytes wrap around
    bucket[starts[1:] == starts[:-1]] = 0
    rows = np.argsort(bucket, kind="stable")
    sizes = np.bincount(bucket, minlength=_BUCKETS)
    return rows, chunk.take(pa.array(rows)), np.concatenate([[0], np.cumsum(sizes)])
