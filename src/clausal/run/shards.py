"""Checkpoints of several processes: each writes what it has as a shard, and all shards count or none.

A shard holds the rows of one process and what all have alike. When every process has written its own, the first one
names them in ``shards.json``; until then the last checkpoint stands. Rows are dealt anew when another number of
processes goes on. The finished model is written row after row in the order of ids, so that no process ever holds all
of it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from clausal.errors import InputError, RunError
from clausal.files import atomic_file, explained_os_errors, read_json, write_json
from clausal.model.predictor import LinkPredictor
from clausal.model.row_table import RowTable, row_table
from clausal.peers import Dealing, Peers
from clausal.run.checkpoint import read_tensors, write_tensors
from clausal.run.directory import CHECKPOINT, RunDirectory
from clausal.training import AdversarialSetTraining

SHARDS = CHECKPOINT.with_name("shards.json")
_BY_ROW = ("model/encoder.weight", "best/encoder.weight", "average/encoder.weight", "rows/sums")
_OF_EACH = "adversarial_set/"
_AT_ONCE = 1 << 16
"""Rows of the finished model that travel at a time."""


class Saved(NamedTuple):
    """A checkpoint: its files, one for each process that has written it, and how far the training had come."""

    files: list[Path]
    position: dict[str, Any]


def save_shards(directory: RunDirectory, training: AdversarialSetTraining, peers: Peers) -> None:
    """Replace the checkpoint by the state of a training, of which every process calls this at the same time."""
    tensors, position = training.state()
    name = f"shards-{position['epoch']}-{position['passes']}"
    folder = directory.temporary_folder / name
    error: Exception | None = None
    try:
        with explained_os_errors(folder):
            folder.mkdir(exist_ok=True)
        path = folder / _file(peers.rank, peers.size)
        write_tensors(path, tensors, {"position": json.dumps(position)})
    except Exception as failure:  # the others must learn of it before this process ends
        error = failure
    failed = peers.sum_(torch.tensor([float(error is not None)], device=training.predictor.device))
    if error is not None:
        raise error
    if failed.item():
        raise RunError(
            "another process could not write its part of a checkpoint; the last checkpoint stands, and --resume goes "
            "on from it"
        )
    if peers.first:
        about = {"folder": name, "processes": peers.size, "position": position}
        write_json(directory.path / SHARDS, about, directory.temporary_folder)
        (directory.path / CHECKPOINT).unlink(missing_ok=True)
        for other in directory.temporary_folder.glob("shards-*"):
            if other.name != name:
                shutil.rmtree(other, ignore_errors=True)
    peers.wait()


def find_checkpoint(directory: RunDirectory) -> Saved | None:
    """Return the last checkpoint, of one process or of several; None if there is none yet."""
    path = directory.path / SHARDS
    single = directory.load_position()
    if not path.exists():
        return None if single is None else Saved([directory.path / CHECKPOINT], single)
    about = read_json(path)
    try:
        folder, size, position = str(about["folder"]), int(about["processes"]), dict(about["position"])
        place = int(position["epoch"]), int(position["passes"])
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path}: damaged: it does not name the shards of a checkpoint") from None
    if not folder.startswith("shards-") or "/" in folder or not 0 < size < 1 << 20:
        raise InputError(f"{path}: damaged: it does not name the shards of a checkpoint")
    if single is not None and (single["epoch"], single["passes"]) > place:
        return Saved([directory.path / CHECKPOINT], single)
    return Saved([directory.temporary_folder / folder / _file(rank, size) for rank in range(size)], position)


def read_share(saved: Saved, training: AdversarialSetTraining) -> dict[str, Tensor]:
    """Return the state of this process from a checkpoint that any number of processes has written."""
    table, size = training.table, len(saved.files)
    if table is None:
        (file,) = saved.files
        return read_tensors(file)[0]
    dealing = table.dealing
    if size == dealing.size:
        return _by_rows(read_tensors(saved.files[dealing.rank])[0], training)
    state = _by_rows(read_tensors(saved.files[0])[0], training)
    sets = state if dealing.rank % size == 0 else read_tensors(saved.files[dealing.rank % size])[0]
    found = {name: tensor for name, tensor in state.items() if name not in _BY_ROW and not name.startswith(_OF_EACH)}
    found |= {name: tensor for name, tensor in sets.items() if name.startswith(_OF_EACH)}
    for name in _BY_ROW:
        if name in state:
            found[name] = state[name].new_empty(dealing.count(), state[name].shape[1])
    for rank, file in enumerate(saved.files):
        shard = state if rank == 0 else _by_rows(read_tensors(file)[0], training)
        ids = Dealing.of(dealing.rows, rank, size, training.dealing_seed).own_ids()
        own = dealing.owners(ids) == dealing.rank
        for name in _BY_ROW:
            if name in shard:
                _check_rows(file, name, shard[name], len(ids))
                found[name][dealing.places(ids[own])] = shard[name][own]
    return found


def _check_rows(file: Path, name: str, tensor: Tensor, rows: int) -> None:
    if len(tensor) != rows:
        raise InputError(f"{file}: damaged: '{name}' has {len(tensor):,} rows; expected {rows:,}")


def _by_rows(tensors: dict[str, Tensor], training: AdversarialSetTraining) -> dict[str, Tensor]:
    """Return a state as a table by rows has it; that of a plain table has its sums in the optimiser."""
    if "rows/sums" in tensors:
        return tensors
    names = [name for name, _ in training.predictor.named_parameters()]
    place = names.index("encoder.weight")
    changed: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        number, _, quantity = name.removeprefix("optimizer/").partition(".")
        if not name.startswith("optimizer/") or not number.isdecimal():
            changed[name] = tensor
        elif int(number) == place:
            if quantity == "sum":
                changed["rows/sums"] = tensor
        else:
            changed[f"optimizer/{int(number) - (int(number) > place)}.{quantity}"] = tensor
    return changed


def _file(rank: int, size: int) -> str:
    return f"{rank}-of-{size}.safetensors"


def write_model(path: Path, predictor: LinkPredictor, temporary_folder: Path) -> None:
    """Write a finished model in single precision as one file; processes that have its rows dealt call this together."""
    table = row_table(predictor)
    tensors = predictor.state_dict()
    if table is None or table.peers.size == 1:
        write_tensors(path, _in_single_precision(tensors), {}, temporary_folder)
        return
    tensors.pop("encoder.weight")
    if not table.peers.first:
        for _ in _rows_in_order(table):
            pass
        return
    with atomic_file(path, temporary_folder) as temporary, temporary.open("wb") as file:
        shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
        file.write(_header(shapes | {"encoder.weight": (table.dealing.rows, table.weight.shape[1])}))
        for tensor in _in_single_precision(tensors).values():
            file.write(tensor.contiguous().cpu().numpy().tobytes())
        for rows in _rows_in_order(table):
            file.write(rows.cpu().numpy().tobytes())


def _rows_in_order(table: RowTable) -> Iterator[Tensor]:
    """Yield the vectors of all entities in the order of their ids, some at a time."""
    with torch.no_grad():
        for start in range(0, table.dealing.rows, _AT_ONCE):
            stop = min(start + _AT_ONCE, table.dealing.rows)
            ids = torch.arange(start, stop, device=table.weight.device)
            yield table.fetch(ids if table.peers.first else ids[:0]).rows


def _header(shapes: Mapping[str, tuple[int, ...]]) -> bytes:
    """Return what a safetensors file of float32 tensors begins with: where each of them lies after it."""
    about: dict[str, Any] = {}
    end = 0
    for name, shape in shapes.items():
        start, end = end, end + 4 * torch.Size(shape).numel()
        about[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [start, end]}
    text = json.dumps(about).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _in_single_precision(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}
