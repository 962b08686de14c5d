"""From names to ids: the distinct names of columns, sorted, and each row's position among them.

A hash table of millions of names misses the processor's cache at each row. So where there are many names, rows are
first dealt into buckets by the bytes of their names, equal names into the same bucket, and each bucket has a small
table of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]

_FEW_NAMES = 1 << 16
_BUCKETS = 256
_SHUFFLED = np.random.default_rng(0).permutation(256).astype(np.uint8)  # digits are neighbours; this spreads their sums
_NAMES_IN_A_RANGE = 1 << 18
_SAMPLE = 64  # names looked at for each border between two ranges


class _Encoded(NamedTuple):
    """The rows of a chunk in some order, and the position of each one's name among the distinct names."""

    rows: Any  # an index: all rows, or a permutation of them
    positions: Ids


def encode(columns: Sequence[Any], pool: ThreadPoolExecutor) -> tuple[Any, list[Ids]]:
    """Return the sorted distinct names of some pyarrow columns, as one array, and the ids of each column's rows."""
    import pyarrow as pa

    chunks = [chunk for column in columns for chunk in column.chunks if len(chunk)]
    few = len(max(chunks, key=len).unique()) <= _FEW_NAMES
    names, encoded = _encode_together(chunks, pool) if few else _encode_in_buckets(chunks, pool)
    order = sorted_order(names, pool)
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)

    def ids_of(chunk: _Encoded) -> Ids:
        ids = np.empty(len(chunk.positions), dtype=np.int32)
        ids[chunk.rows] = ranks[chunk.positions]
        return ids

    ids = np.concatenate(list(pool.map(ids_of, encoded)))
    return names.take(pa.array(order)), np.split(ids, np.cumsum([len(column) for column in columns])[:-1])


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
        encoded = pa.chunked_array(pieces, type=pa.string()).dictionary_encode().combine_chunks()
        return encoded.dictionary, encoded.indices.to_numpy()

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

    A name's bucket is the sum of its shuffled bytes, modulo 256.
    """
    import pyarrow as pa

    _, offsets, text = chunk.buffers()
    starts = np.frombuffer(offsets, dtype=np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    sums = np.zeros(1 + starts[-1] - starts[0], dtype=np.uint8)  # of all bytes before; unsigned bytes wrap around
    if text is not None:
        shuffled = _SHUFFLED.take(np.frombuffer(text, dtype=np.uint8)[starts[0] : starts[-1]])
        np.cumsum(shuffled, dtype=np.uint8, out=sums[1:])
    before = sums[starts - starts[0]]
    bucket = before[1:] - before[:-1]
    rows = np.argsort(bucket, kind="stable")
    sizes = np.bincount(bucket, minlength=_BUCKETS)
    return rows, chunk.take(pa.array(rows)), np.concatenate([[0], np.cumsum(sizes)])
