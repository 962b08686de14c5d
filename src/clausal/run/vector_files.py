"""Vectors to files: Parquet, .npy, word2vec text and safetensors, by the file's ending."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clausal.errors import InputError
from clausal.files import atomic_file, check_file_target, write_text
from clausal.run.vectors import Floats, Vectors

ENDINGS = (".parquet", ".npy", ".txt", ".safetensors")

_NUMBERS_AT_ONCE = 1 << 22


class _Part(NamedTuple):
    """Vectors of one kind, with their names."""

    kind: str
    names: Sequence[str]
    vectors: Floats

    def pieces(self) -> Iterator[tuple[list[str], Floats]]:
        """Yield names and vectors, some at a time."""
        size = max(1, _NUMBERS_AT_ONCE // max(1, self.vectors.shape[1]))
        for start in range(0, len(self.vectors), size):
            yield list(self.names[start : start + size]), self.vectors[start : start + size]


def check_vectors_target(path: Path) -> None:
    """Refuse a file that vectors could not be written to, before any work is done for it."""
    if path.suffix not in ENDINGS:
        raise InputError(f"{path}: vectors are written as {', '.join(ENDINGS)}, not '{path.suffix}'")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")
    check_file_target(path)


def write_vectors(path: str | Path, vectors: Vectors) -> list[Path]:
    """Write vectors in the format of the file's ending, and return the files.

    ``.parquet`` and ``.safetensors`` hold all in one file. Beside ``x.npy`` and ``x.txt`` those of relations go into
    ``x.relations.npy`` and ``x.inverse_relations.npy``; and the names of ``.npy`` into ``x.entities.txt`` and
    ``x.relations.txt``, one a line.
    """
    path = Path(path)
    check_vectors_target(path)
    parts = [
        _Part("entities", vectors.entity_names, vectors.entities),
        _Part("relations", vectors.relation_names, vectors.relations),
    ]
    if vectors.inverse_relations is not None:
        parts.append(_Part("inverse_relations", vectors.relation_names, vectors.inverse_relations))
    if path.suffix == ".parquet":
        return _write_parquet(path, parts)
    if path.suffix == ".safetensors":
        return _write_safetensors(path, parts)
    return _write_npy(path, parts) if path.suffix == ".npy" else _write_word2vec(path, parts)


def _write_parquet(path: Path, parts: Sequence[_Part]) -> list[Path]:
    """Write the columns kind, name and vector."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = pa.from_numpy_dtype(parts[0].vectors.dtype)
    schema = pa.schema([("kind", pa.string()), ("name", pa.string()), ("vector", pa.list_(number))])
    with atomic_file(path) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        for part in parts:
            for names, rows in part.pieces():
                ends = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
                lists = pa.ListArray.from_arrays(pa.array(ends), pa.array(rows.reshape(-1)))
                kinds = pa.array([part.kind] * len(names), pa.string())
                writer.write_table(pa.table([kinds, pa.array(names, pa.string()), lists], schema=schema))
    return [path]


def _write_safetensors(path: Path, parts: Sequence[_Part]) -> list[Path]:
    """Write a tensor for each kind; the metadata have the names, as JSON."""
    from safetensors.numpy import save_file

    names = {part.kind: json.dumps(list(part.names), ensure_ascii=False) for part in parts[:2]}
    with atomic_file(path) as temporary:
        save_file({part.kind: np.ascontiguousarray(part.vectors) for part in parts}, temporary, metadata=names)
    return [path]


def _write_npy(path: Path, parts: Sequence[_Part]) -> list[Path]:
    written = []
    for part in parts[:2]:
        _refuse(path, part.names, "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029", "a line break")
    for part in parts:
        target = _beside(path, part)
        with atomic_file(target) as temporary, temporary.open("wb") as file:
            np.save(file, part.vectors, allow_pickle=False)
        written.append(target)
    for part in parts[:2]:
        target = path.with_suffix(f".{part.kind}.txt")
        write_text(target, "".join(f"{name}\n" for name in part.names))
        written.append(target)
    return written


def _write_word2vec(path: Path, parts: Sequence[_Part]) -> list[Path]:
    """Write a line with the counts, then a name and its numbers on each; blanks in names become underscores.

    Readers of this format take the name to end at the first blank.
    """
    named = []
    for part in parts:
        _refuse(path, part.names, "\t\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029", "a tab or a line break")
        names = [name.replace(" ", "_") for name in part.names]
        if len(set(names)) < len(names):
            seen = dict(zip(names, part.names, strict=True))
            one = next(name for name, plain in zip(part.names, names, strict=True) if seen[plain] != name)
            raise InputError(
                f"{path}: word2vec text has no blanks in names, and '{one}' and '{seen[one.replace(' ', '_')]}' are "
                "the same with underscores; write a .parquet or .safetensors file"
            )
        named.append(part._replace(names=names))
    for part in named:
        with atomic_file(_beside(path, part)) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.write(f"{len(part.vectors)} {part.vectors.shape[1]}\n")
            for names, rows in part.pieces():
                numbers = rows.astype(str)
                file.writelines(f"{name} {' '.join(row)}\n" for name, row in zip(names, numbers.tolist(), strict=True))
    return [_beside(path, part) for part in named]


def _beside(path: Path, part: _Part) -> Path:
    return path if part.kind == "entities" else path.with_suffix(f".{part.kind}{path.suffix}")


def _refuse(path: Path, names: Sequence[str], characters: str, what: str) -> None:
    bad: Any = next((name for name in names if any(character in name for character in characters)), None)
    if bad is not None:
        raise InputError(f"{path}: the name {bad!a} has {what} in it; write a .parquet or .safetensors file")
