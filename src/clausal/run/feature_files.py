"""The features of described entities inside a run directory, so that a run can be used and resumed on its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from clausal.errors import InputError
from clausal.model.features import Features
from clausal.run.checkpoint import read_tensors, write_tensors


def write_features(path: Path, features: Sequence[Features]) -> None:
    """Write features of several kinds as one file."""
    tensors = {f"{place}/{name}": one for place, some in enumerate(features) for name, one in some.tensors().items()}
    write_tensors(path, tensors, {"kinds": json.dumps([some.kind for some in features])})


def read_features(path: Path, entities: int) -> list[Features]:
    """Read what ``write_features`` wrote; there must be a row for each entity."""
    tensors, metadata = read_tensors(path)
    try:
        kinds = json.loads(metadata["kinds"])
        found = [
            Features.of_tensors(
                kind, {name.partition("/")[2]: one for name, one in tensors.items() if name.startswith(f"{place}/")}
            )
            for place, kind in enumerate(kinds)
        ]
        if not found or any(len(one.rows) != entities for one in found):
            raise ValueError(f"it has no features for {entities:,} entities")
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: damaged: {error}") from None
    return found
