"""A random graph as files, and random clauses over its relations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

RELATIONS = 100
TEST = 1_000
_CHUNK = 1 << 18


def main(task: dict[str, Any]) -> dict[str, int]:
    """Write train and test of ``triples`` and 1,000 facts over ``entities`` names that all occur, and the clauses."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    def text(value: str) -> Any:
        return pa.scalar(value, pa.string())

    generator, entities = np.random.default_rng(0), task["entities"]
    numbers = pa.array(generator.permutation(entities)).cast(pa.string())
    names = pc.binary_join_element_wise(text("Q"), numbers, text(""))
    relations = pa.array([f"relation_{number}" for number in range(RELATIONS)])
    folder = Path(task["folder"])
    folder.mkdir()
    for file, count in (("train.tsv", task["triples"]), ("test.tsv", TEST)):
        with (folder / file).open("wb") as stream:
            for start in range(0, count, _CHUNK):
                size = min(_CHUNK, count - start)
                subjects = (
                    np.arange(start, start + size) % entities
                    if count > TEST
                    else generator.integers(entities, size=size)
                )
                columns = [
                    names.take(pa.array(subjects)),
                    relations.take(pa.array(generator.integers(RELATIONS, size=size))),
                    names.take(pa.array(generator.integers(entities, size=size))),
                ]
                lines = pc.binary_join_element_wise(
                    *columns[:2], pc.binary_join_element_wise(columns[2], text("\n"), text("")), text("\t")
                )
                stream.write(lines.buffers()[2])
    (folder / "clauses.txt").write_text("".join(_clauses(task["clauses"], generator)), encoding="utf-8")
    return {"bytes": (folder / "train.tsv").stat().st_size}


def _clauses(count: int, generator: Any) -> list[str]:
    """Make implications, inverses and compositions, as many of each."""
    shapes = (
        "relation_{}(X, Y) => relation_{}(X, Y)\n",
        "relation_{}(X, Y) => relation_{}(Y, X)\n",
        "relation_{}(X, Y), relation_{}(Y, Z) => relation_{}(X, Z)\n",
    )
    return [shapes[number % 3].format(*generator.choice(RELATIONS, size=3, replace=False)) for number in range(count)]
