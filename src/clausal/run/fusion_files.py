"""The fusion of a run as files: arrays in ``fusion.safetensors``, all else in ``fusion.json``.

Nothing in them is trusted: every number is checked against the vocabulary and the other arrays before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from clausal.errors import InputError
from clausal.evaluation import Calibration
from clausal.files import read_json, write_json
from clausal.fusion.evidence import FEATURES, VotingRules
from clausal.fusion.fusion import Basis, Fusion
from clausal.graph.graph import Graph
from clausal.logic.mining import AttributeRules, Attributes, Edges, PathRules
from clausal.logic.mining.path_rules import MOST_ATOMS
from clausal.run.checkpoint import read_tensors, write_tensors
from clausal.run.directory import FUSION, FUSION_ARRAYS

_FORMAT = 1
_KINDS = {
    "weights": torch.float64,
    "path_heads": torch.int32,
    "path_bodies": torch.int32,
    "path_support": torch.float64,
    "path_pairs": torch.float64,
    "path_known": torch.float64,
    "path_share": torch.float64,
    "entities_with": torch.int32,
    "body_starts": torch.int64,
    "attribute_heads": torch.int32,
    "attribute_support": torch.int32,
}


def write_fusion(folder: Path, fusion: Fusion, graph: Graph) -> None:
    """Write the two files of a fusion into a run directory."""
    paths, attributes = fusion.rules.paths, fusion.rules.attributes
    arrays = {
        "weights": fusion.weights,
        "path_heads": paths.heads,
        "path_bodies": paths.bodies,
        "path_support": paths.support,
        "path_pairs": paths.pairs,
        "path_known": paths.known,
        "path_share": paths.share,
        "entities_with": attributes.entities_with,
        "body_starts": attributes.body_starts,
        "attribute_heads": attributes.heads,
        "attribute_support": attributes.support,
    }
    write_tensors(
        folder / FUSION_ARRAYS,
        {name: torch.from_numpy(np.ascontiguousarray(array)).to(_KINDS[name]) for name, array in arrays.items()},
        {},
    )
    about = {
        "format": _FORMAT,
        "features": list(FEATURES),
        "signed": fusion.signed,
        "basis": fusion.basis,
        "strength": fusion.strength,
        "gain": fusion.gain,
        "error": fusion.error,
        "valid": {name: dict(found) for name, found in fusion.valid.items()},
        "complete": paths.complete and attributes.complete,
        "calibration": None if fusion.calibration is None else fusion.calibration.to_dict(graph.relations),
    }
    write_json(folder / FUSION, about)


def read_fusion(folder: Path, graph: Graph) -> Fusion:
    """Read what ``write_fusion`` wrote; anything else is refused."""
    path = folder / FUSION
    if not path.exists():
        raise InputError(f"{folder}: the run has no fusion; make one: clausal fuse {folder} --mine --out NEW")
    about = read_json(path)
    if about.get("format") != _FORMAT:
        raise InputError(f"{path}: fusion format {about.get('format')!r} is not known; this version reads {_FORMAT}")
    try:
        values = _read_about(about, graph)
    except ValueError as error:
        raise InputError(f"{path}: damaged: {error}") from None
    tensors, _ = read_tensors(folder / FUSION_ARRAYS)
    try:
        weights, rules = _read_arrays(tensors, graph, bool(about["complete"]))
    except ValueError as error:
        raise InputError(f"{folder / FUSION_ARRAYS}: damaged: {error}") from None
    return Fusion(rules, weights, **values)


def _read_about(about: Mapping[str, Any], graph: Graph) -> dict[str, Any]:
    if about.get("features") != list(FEATURES):
        raise ValueError(f"expected the features {', '.join(FEATURES)}")
    if about.get("basis") not in get_args(Basis):
        raise ValueError(f"'basis' must be one of {', '.join(get_args(Basis))}")
    for name in ("signed", "complete"):
        if not isinstance(about.get(name), bool):
            raise ValueError(f"'{name}' must be true or false")
    for name in ("gain", "error"):
        if not _is_number(about.get(name)):
            raise ValueError(f"'{name}' must be a number")
    strength = about.get("strength")
    if strength is not None and not (_is_number(strength) and strength > 0):
        raise ValueError("'strength' must be a number above 0, or null")
    valid = about.get("valid")
    if not isinstance(valid, dict) or not all(
        isinstance(found, dict) and all(map(_is_number, found.values())) for found in valid.values()
    ):
        raise ValueError("'valid' must hold metrics by name")
    stored = about.get("calibration")
    if stored is not None and not isinstance(stored, dict):
        raise ValueError("'calibration' must be an object or null")
    return {
        "basis": about["basis"],
        "signed": about["signed"],
        "strength": strength,
        "valid": valid,
        "gain": about["gain"],
        "error": about["error"],
        "calibration": None if stored is None else Calibration.from_dict(stored, graph.relations),
    }


def _read_arrays(
    tensors: Mapping[str, torch.Tensor], graph: Graph, complete: bool
) -> tuple[NDArray[np.float64], VotingRules]:
    for name in tensors.keys() ^ _KINDS.keys():
        raise ValueError(f"'{name}' is {'missing' if name in _KINDS else 'not of a fusion'}")
    for name, kind in _KINDS.items():
        _require(tensors[name].dtype == kind, f"'{name}' holds {tensors[name].dtype}; expected {kind}")
    relations = len(graph.relations)
    arrays: dict[str, NDArray[Any]] = {
        name: tensor.numpy() if tensor.is_floating_point() else tensor.numpy().astype(np.int64)
        for name, tensor in tensors.items()
    }
    attributes = Attributes.of(Edges(graph.train, len(graph.entities), relations))
    paths, constants = len(arrays["path_heads"]), len(arrays["attribute_heads"])
    shapes = {
        "weights": (2 * relations, len(FEATURES)),
        "path_heads": (paths,),
        "path_bodies": (paths, MOST_ATOMS),
        "path_known": (paths, 2),
        **dict.fromkeys(("path_support", "path_pairs", "path_share"), (paths,)),
        "entities_with": (len(attributes),),
        "body_starts": (len(attributes) + 1,),
        "attribute_heads": (constants,),
        "attribute_support": (constants,),
    }
    for name, shape in shapes.items():
        _require(arrays[name].shape == shape, f"'{name}' has shape {list(arrays[name].shape)}; expected {list(shape)}")
    columns = {name: arrays[f"path_{name}"] for name in ("heads", "bodies", "support", "pairs", "known", "share")}
    found = PathRules(relations, **columns, complete=complete)
    _check_paths(found)
    others = AttributeRules(
        *(relations, attributes.label, attributes.entity, arrays["entities_with"]),
        *(arrays["body_starts"], arrays["attribute_heads"], arrays["attribute_support"], complete),
    )
    _check_attributes(others)
    return arrays["weights"], VotingRules(found, others)


def _check_paths(paths: PathRules) -> None:
    bodies, ended = paths.bodies, paths.bodies < 0
    _require(_within(paths.heads, 0, paths.relations), "a path rule has an unknown relation")
    _require(_within(bodies, -1, 2 * paths.relations), "a path rule has an unknown label")
    _require(not ended[:, 0].any() and not (ended[:, :-1] & ~ended[:, 1:]).any(), "a path rule has a gap")
    counts = (paths.support >= 0) & (paths.support <= paths.pairs) & (paths.share > 0) & (paths.share <= 1)
    counts &= (paths.known >= 0).all(axis=1)
    _require(bool(counts.all()), "a path rule has impossible counts")


def _check_attributes(rules: AttributeRules) -> None:
    starts, heads = rules.body_starts, rules.heads
    rising = starts[0] == 0 and starts[-1] == len(heads) and bool((np.diff(starts) >= 0).all())
    _require(rising, "the rules with constants do not belong to bodies")
    _require(_within(heads, 0, len(rules.attribute_label)), "a rule with constants has an unknown head")
    same_body = np.diff(rules.bodies) == 0
    _require(bool((np.diff(heads)[same_body] > 0).all()), "the rules with constants are not in order")
    _require(bool((rules.attribute_entity[heads] >= 0).all()), "a rule with constants has a head without one")
    possible = (rules.support >= 0) & (rules.support <= rules.entities_with[rules.bodies])
    _require(bool(possible.all()), "a rule with constants has impossible counts")


def _within(values: NDArray[Any], first: int, end: int) -> bool:
    return not len(values) or bool(values.min() >= first and values.max() < end)


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and bool(np.isfinite(value))
