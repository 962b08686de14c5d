"""The index of a run: made once, kept in a file of its own, and used for the vectors that it was made of alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import torch

from clausal.choices import Metric
from clausal.errors import InputError, did_you_mean
from clausal.evaluation.index import VectorIndex, digest_of
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import MultilinearScorer
from clausal.observer import Observer
from clausal.run.checkpoint import read_tensors, write_tensors
from clausal.run.vectors import check_entity_vectors

if TYPE_CHECKING:
    from clausal.run.run import Run

_FORMAT = "clausal index 1"


def build_index(predictor: LinkPredictor, metric: Metric, observer: Observer | None) -> VectorIndex:
    """Make an index of the vectors of all entities."""
    if metric not in get_args(Metric):
        choices = get_args(Metric)
        raise InputError(
            f"unknown metric '{metric}'{did_you_mean(metric, choices)}; choose one of {', '.join(choices)}"
        )
    check_entity_vectors(predictor)
    return VectorIndex.build(predictor.encode_all().detach(), metric, observer)


def write_index(path: Path, index: VectorIndex) -> None:
    """Write an index as a file, whole or not at all."""
    data = index.to_bytes()
    about = {
        "format": _FORMAT,
        "metric": index.metric,
        "vectors": index.digest,
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    write_tensors(path, {"index": torch.frombuffer(bytearray(data), dtype=torch.uint8)}, about)


def read_index(path: Path) -> VectorIndex:
    """Read an index from its file."""
    if not path.is_file():
        raise InputError(f"{path}: no such index; clausal index RUN --out {path} makes one")
    tensors, about = read_tensors(path)
    if about.get("format") != _FORMAT or about.get("metric") not in get_args(Metric) or "index" not in tensors:
        raise InputError(f"{path}: not an index of clausal; clausal index RUN --out FILE makes one")
    data = tensors["index"].numpy().tobytes()
    if hashlib.sha256(data).hexdigest() != about.get("sha256"):
        raise InputError(f"{path}: damaged; make it anew: clausal index RUN --out FILE")
    try:
        return VectorIndex.of_bytes(data, about["metric"], about.get("vectors", ""))  # type: ignore[arg-type]
    except ValueError as error:
        raise InputError(f"{path}: damaged: {error}") from None


def check_index(index: VectorIndex, predictor: LinkPredictor) -> None:
    """Refuse an index of other vectors than a model's."""
    check_entity_vectors(predictor)
    vectors = predictor.encode_all().detach()
    if len(index) != len(vectors) or index.digest != digest_of(vectors):
        raise InputError(
            "the index is of other vectors than this run's; an update or a training makes new ones: "
            "clausal index RUN --out FILE makes the index anew"
        )


def require_use(run: Run, metric: Metric | None = None) -> None:
    """Refuse a run's index where it would not be used: for answers, or for neighbours by a metric."""
    assert run.index is not None
    if metric is not None and run.index.metric != metric:
        raise InputError(
            f"the index is for --metric {run.index.metric}; clausal index RUN --metric {metric} --out FILE makes one "
            f"for {metric}"
        )
    if metric is None and not isinstance(run.predictor.scorer, MultilinearScorer):
        raise InputError(
            f"an index finds answers where scores are inner products; those of {type(run.predictor.scorer).__name__} "
            "are not: ask without --index"
        )
    if metric is None and run.index.metric != "dot":
        raise InputError(
            f"the index is for the nearest by --metric {run.index.metric}; clausal index RUN --out FILE makes one for "
            "answers"
        )


def with_fitting(run: Run, indexes: Sequence[VectorIndex]) -> Run:
    """Return a run with the one of some indexes that is of its vectors; as it was where none is."""
    if not indexes:
        return run
    vectors = run.predictor.with_table().encode_all().detach()
    digest = digest_of(vectors)
    fitting = [one for one in indexes if one.digest == digest and len(one) == len(vectors)]
    if not fitting:
        return run
    found = replace(run, index=fitting[0])
    require_use(found)
    return found
