"""Vectors of entities from .npy, safetensors, Parquet or word2vec text: pre-trained ones, or those that describe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tokenize import TokenError

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.errors import InputError, RunError
from clausal.files import check_regular, enough_memory_to_read
from clausal.graph.vocabulary import Names

VectorRows = NDArray[np.float32]

_HEADER = re.compile("[0-9]{1,18} [0-9]{1,18}")  # of word2vec text: rows and dim


def read_vectors(path: str | Path, entities: Names, dim: int, names_path: str | Path | None = None) -> Tensor:
    """Read one vector for each entity [entities, dim].

    Rows of ``.npy`` and ``.safetensors`` files follow ``names_path`` (one name per line) or, without it, the
    vocabulary. Parquet and word2vec text name their rows themselves. Rows of other names are ignored.
    """
    path = Path(path)
    check_regular(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file of vectors (model.pretrained)")
    try:
        return _read_vectors(path, entities, dim, names_path)
    except MemoryError:
        raise RunError(f"{path}: out of memory while reading its vectors; take a machine with more memory") from None


def read_named_vectors(
    path: str | Path, entities: Sequence[str], names_path: str | Path | None = None
) -> tuple[list[str], VectorRows]:
    """Read names and vectors of any one width; a name may occur once, and every number must be finite.

    ``entities`` name the rows of a file that has no names, where ``names_path`` does not.
    """
    path = Path(path)
    check_regular(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file of vectors")
    with enough_memory_to_read(path):
        names, vectors = _read_rows(path, entities, names_path)
        if vectors.ndim != 2 or not vectors.size:
            raise InputError(f"{path}: expected a vector for each name; got shape {list(vectors.shape)}")
        _check_rows(path, names, vectors, "the names of its rows: descriptions.names")
        if len(set(names)) < len(names):
            twice = next(name for name, times in Counter(names).items() if times > 1)
            raise InputError(f"{path}: '{twice}' has more than one vector; keep one of them")
    return names, vectors


def _read_rows(path: Path, entities: Sequence[str], names_path: str | Path | None) -> tuple[list[str], VectorRows]:
    """Return the names and vectors of a file of any format."""
    try:
        if path.suffix == ".parquet":
            return _read_parquet(path)
        if path.suffix in (".npy", ".safetensors"):
            vectors = _read_npy(path) if path.suffix == ".npy" else _read_safetensors(path)
            return _read_names(Path(names_path)) if names_path else list(entities), vectors
        return _read_word2vec(path)
    except OSError as error:
        raise InputError(f"{error.filename or path}: cannot be read: {error.strerror or error}") from None


def _check_rows(path: Path, names: Sequence[str], vectors: VectorRows, setting: str) -> None:
    if len(names) != len(vectors):
        raise InputError(f"{path}: {len(vectors):,} vectors for {len(names):,} names; give {setting}")
    if not np.isfinite(vectors).all():
        raise InputError(
            f"{path}: row {int(np.argmin(np.isfinite(vectors).all(1))) + 1} has a value that is not finite"
        )


def _read_vectors(path: Path, entities: Names, dim: int, names_path: str | Path | None) -> Tensor:
    names, vectors = _read_rows(path, entities, names_path)
    if vectors.ndim != 2 or vectors.shape[1] != dim:
        raise InputError(f"{path}: expected vectors of {dim} numbers (model.dim); got shape {list(vectors.shape)}")
    _check_rows(path, names, vectors, "model.pretrained_names")
    row = {name: index for index, name in enumerate(names)}
    missing = [name for name in entities if name not in row]
    if missing:
        shown = ", ".join(f"'{name}'" for name in missing[:3])
        raise InputError(f"{path}: no vector for {len(missing):,} of {len(entities):,} entities, such as {shown}")
    return torch.from_numpy(vectors[[row[name] for name in entities]])


def _read_npy(path: Path) -> VectorRows:
    try:
        # As a map, so that a damaged header cannot claim more memory than the file has.
        rows = np.lib.format.open_memmap(path, mode="r")
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused
            return np.array(rows, dtype=np.float32)
    except (ValueError, TypeError, OverflowError, EOFError, TokenError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{path}: not a .npy file of numbers, or a damaged one: {reason}") from None


def _read_safetensors(path: Path) -> VectorRows:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors = load_file(path)
    except SafetensorError as error:
        raise InputError(f"{path}: not a safetensors file: {error}") from None
    if len(tensors) != 1 and "entities" not in tensors:
        found = ", ".join(sorted(tensors)) or "none"
        raise InputError(f"{path}: expected one tensor, or one called 'entities'; found {found}")
    tensor = tensors.get("entities", next(iter(tensors.values())))
    try:
        vectors: VectorRows = tensor.float().numpy()
    except (NotImplementedError, RuntimeError):
        raise InputError(f"{path}: numbers of type {tensor.dtype} cannot be read; save them as float32") from None
    return vectors


def _read_parquet(path: Path) -> tuple[list[str], VectorRows]:
    """Read the columns name and vector; of a file that ``clausal vectors`` wrote, the entities."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(path).read()
        if not {"name", "vector"} <= set(table.column_names):
            raise InputError(f"{path}: expected the columns name and vector; found {', '.join(table.column_names)}")
        if "kind" in table.column_names:
            table = table.filter(pc.equal(table["kind"], "entities"))
        rows = table["vector"].combine_chunks()
        widths = pc.unique(pc.list_value_length(rows)).to_pylist()
        if len(widths) != 1 or not widths[0]:
            raise InputError(
                f"{path}: its vectors are of {', '.join(map(str, widths)) or 'no'} numbers; give all the same"
            )
        numbers = pc.list_flatten(rows).cast(pa.float32()).fill_null(float("nan")).to_numpy(zero_copy_only=False)
        return table["name"].cast(pa.string()).fill_null("").to_pylist(), numbers.reshape(-1, widths[0])
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: a name is not UTF-8 (byte 0x{error.object[error.start]:02x})") from None
    except pa.ArrowException as error:
        raise InputError(f"{path}: cannot be read as Parquet vectors: {str(error).splitlines()[0]}") from None


def _read_names(path: Path) -> list[str]:
    check_regular(path)
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file of names (model.pretrained_names)") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8: {error}") from None


def _read_word2vec(path: Path) -> tuple[list[str], VectorRows]:
    """Read lines ``name number number …``, with or without the header line ``rows dim``."""
    names: list[str] = []
    rows: list[VectorRows] = []
    width = 0
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                parts = line.rstrip().split(" ")
                if number == 1 and _HEADER.fullmatch(line.rstrip()):
                    width = int(parts[1])
                    continue
                width = width or len(parts) - 1
                names.append(" ".join(parts[:-width]))
                rows.append(_numbers(parts, width, f"{path}:{number}"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not word2vec text (a name and numbers on each line): {error}") from None
    if not rows:
        raise InputError(f"{path}: empty file of vectors")
    return names, np.stack(rows)


def _numbers(parts: list[str], width: int, place: str) -> VectorRows:
    """Return the last ``width`` of the parts of a line; before them comes the name."""
    if not len(parts) > width > 0:
        raise InputError(f"{place}: expected a name and {width or 'its'} numbers, separated by spaces")
    try:
        return np.array(parts[-width:], dtype=np.float32)
    except ValueError as error:
        raise InputError(f"{place}: expected a name and {width} numbers: {error}") from None
