"""Names become ids by the same rule, however many there are: a name's id is its place among the sorted names."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clausal.graph import assembly as encoding

CHUNKS = st.lists(st.lists(st.text(max_size=4), max_size=12), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as workers:
        yield workers


@pytest.mark.parametrize("few_names", [1 << 16, 0], ids=["together", "in buckets"])
@settings(max_examples=30, deadline=None)
@given(first=CHUNKS, second=CHUNKS)
def test_ids_are_places_among_the_sorted_names(
    few_names: int, first: list[list[str]], second: list[list[str]], pool: ThreadPoolExecutor
) -> None:
    flat = [[name for chunk in chunks for name in chunk] for chunks in (first, second)]
    expected = sorted({*flat[0], *flat[1]})
    if not expected:
        return
    columns = [pa.chunked_array(chunks, type=pa.string()) for chunks in (first, second)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_FEW_NAMES", few_names)
        patch.setattr(encoding, "_NAMES_IN_A_RANGE", 3)
        names, ids = encoding.encode(columns, pool)
    assert names.to_pylist() == expected
    assert [[expected[i] for i in column] for column in ids] == flat


def test_rows_of_a_slice_are_dealt_by_their_own_names(
    pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "_FEW_NAMES", 0)
    names = [f"name {number % 700}" for number in range(3_000)]
    column = pa.chunked_array([pa.array(["before", *names, "after"])[1:-1]])
    found, (ids,) = encoding.encode([column], pool)
    assert [found[i].as_py() for i in ids] == names
    assert len(found) == 700
