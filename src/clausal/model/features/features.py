"""From texts and given vectors to features, and the same for entities that come later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clausal.errors import InputError
from clausal.model.features.ngrams import hashed_ngrams
from clausal.model.features.rows import DenseRows, Rows, SparseRows
from clausal.observer import Observer

Kind = Literal["ngrams", "sentences", "vectors"]
Floats = NDArray[np.float32]

_TEXTS_AT_ONCE = 512
MOST_BUCKETS, _LEAST_BUCKETS = 1 << 17, 1 << 10
_EVEN = 0.05
"""ε: directions of less than this share of the mean variance are not brought up to it."""


@dataclass(frozen=True, eq=False)
class Features:
    """Features of one kind, of all entities, and what is needed to make those of another entity.

    ``weights`` are what each n-gram counts, more the rarer it is in train, and nothing if fewer than two texts there
    have it: it would say nothing of any other entity. ``shift`` and ``scale`` bring vectors around 0 and to a mean
    length of 1, and by a matrix the directions in which they differ to about the same variance.
    """

    kind: Kind
    rows: Rows
    weights: Tensor | None = None  # [width], of n-grams
    shift: Tensor | None = None  # [width], of vectors
    scale: Tensor | None = None  # [width, width], of vectors; [] in older runs

    def extended(self, rows: Rows) -> Features:
        """Return the features of these entities and of more."""
        return Features(self.kind, self.rows.followed_by(rows), self.weights, self.shift, self.scale)

    def tensors(self) -> dict[str, Tensor]:
        """Return all of it as tensors by name."""
        others = {"weights": self.weights, "shift": self.shift, "scale": self.scale}
        return self.rows.tensors() | {name: one for name, one in others.items() if one is not None}

    @staticmethod
    def of_tensors(kind: str, tensors: Mapping[str, Tensor]) -> Features:
        """Put together again what ``tensors`` returned; a ValueError says what is wrong with it."""
        if kind == "ngrams":
            starts, columns, values, weights = (tensors[name] for name in ("starts", "columns", "values", "weights"))
            _check_sparse(starts, columns, values, len(weights))
            return Features("ngrams", SparseRows(starts, columns, values, len(weights)), weights)
        if kind not in ("sentences", "vectors"):
            raise ValueError(f"features of kind {kind!r} are not known")
        vectors, shift, scale = (tensors[name] for name in ("vectors", "shift", "scale"))
        square = vectors.shape[1:] * 2
        if vectors.dim() != 2 or shift.shape != vectors.shape[1:] or (scale.numel() != 1 and scale.shape != square):
            raise ValueError("its vectors do not fit together")
        return Features("sentences" if kind == "sentences" else "vectors", DenseRows(vectors), None, shift, scale)


def _check_sparse(starts: Tensor, columns: Tensor, values: Tensor, width: int) -> None:
    ordered = starts.dim() == 1 and len(starts) > 0 and starts[0] == 0 and bool((starts.diff() >= 0).all())
    if not ordered or starts[-1] != len(columns) or columns.shape != values.shape:
        raise ValueError("its rows do not fit together")
    if len(columns) and not (int(columns.min()) >= 0 and int(columns.max()) < width):
        raise ValueError("a feature is outside of their number")


def features_of(
    kind: Kind,
    described: Sequence[str] | Floats,
    seen: NDArray[np.bool_],
    *,
    buckets: int | None = None,
    model: str = "",
    observer: Observer | None = None,
) -> Features:
    """Return the features of all entities, given the text or the vector of each; of one without, they are 0.

    ``seen`` marks those that train has: what an n-gram counts, and where vectors lie, is learnt from these alone.
    N-grams are hashed to so many ``buckets``; by default to as many as keep them apart, up to ``MOST_BUCKETS``.
    """
    if kind == "ngrams":
        grams = hashed_ngrams([str(text) for text in described], buckets or MOST_BUCKETS)
        if buckets is None:
            buckets = _enough_buckets(len(np.unique(grams.columns)))
            grams = grams.folded(buckets)
        owner = np.repeat(np.arange(len(described)), np.diff(grams.starts))
        common = np.bincount(grams.columns[seen[owner]], minlength=buckets)
        weights = np.where(common > 1, np.log((1 + seen.sum()) / (1 + common)), 0).astype(np.float32)
        return Features("ngrams", _sparse(grams, weights), torch.from_numpy(weights))
    if kind == "sentences":
        vectors = embedded(model, [str(text) for text in described], observer)
    else:
        vectors = np.asarray(described, np.float32)
    there = np.any(vectors != 0, axis=1)
    of_seen = vectors[there & seen] if (there & seen).any() else vectors[there]
    statistics = _statistics(of_seen)
    return Features(kind, _dense(vectors, *statistics), None, *statistics)


def _enough_buckets(distinct: int) -> int:
    """Return the power of two that is at least twice the number of distinct n-grams, within limits."""
    return int(min(MOST_BUCKETS, max(_LEAST_BUCKETS, 1 << (2 * distinct).bit_length())))


def _statistics(vectors: Floats) -> tuple[Tensor, Tensor]:
    """Return the mean of vectors [n, width], and a matrix that gives all directions about the same variance.

    A direction of variance v is multiplied by √v / (v + ε): by 1/√v where they differ much, and by little where they
    hardly do, as whatever a later vector has there would be noise. Their mean squared length is 1 then.
    """
    width = vectors.shape[1]
    if not len(vectors):
        return torch.zeros(width), torch.eye(width)
    shift = vectors.mean(0, dtype=np.float64)
    centred = vectors - shift
    variances, directions = np.linalg.eigh(centred.T @ centred / len(vectors))
    variances = np.maximum(variances, 0)
    factors = np.sqrt(variances) / np.maximum(variances + _EVEN * variances.mean(), 1e-30)
    factors /= max(float(np.sqrt((variances * factors**2).sum())), 1e-12)
    scale = (directions * factors) @ directions.T
    return torch.from_numpy(shift.astype(np.float32)), torch.from_numpy(scale.astype(np.float32))


def more_features(features: Features, described: Sequence[str] | Floats, model: str = "") -> Rows:
    """Return the rows of entities that come later, given the text or the vector of each."""
    if features.weights is not None:
        weights = features.weights.cpu().numpy()
        return _sparse(hashed_ngrams([str(text) for text in described], len(weights)), weights)
    assert features.shift is not None
    assert features.scale is not None
    if features.kind == "sentences":
        vectors = embedded(model, [str(text) for text in described])
    else:
        vectors = np.asarray(described, np.float32)
    if vectors.ndim != 2 or vectors.shape[1] != features.rows.width:
        raise InputError(
            f"expected vectors of {features.rows.width} numbers, as this model was trained with; got "
            f"{vectors.shape[-1] if vectors.ndim else 'none'}"
        )
    return _dense(vectors, features.shift.cpu(), features.scale.cpu())


def _sparse(grams: Any, weights: NDArray[np.float32]) -> SparseRows:
    """Return rows of n-grams, each of length 1, of those that count."""
    rows = len(grams.starts) - 1
    owner = np.repeat(np.arange(rows), np.diff(grams.starts))
    counts = weights[grams.columns] > 0
    columns, owner = grams.columns[counts], owner[counts]
    values = weights[columns].astype(np.float64)
    values /= np.sqrt(np.bincount(owner, values**2, minlength=rows))[owner]
    starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=rows))])
    return SparseRows(
        torch.from_numpy(starts.astype(np.int64)),
        torch.from_numpy(columns.astype(np.int32)),
        torch.from_numpy(values.astype(np.float32)),
        len(weights),
    )


def _dense(vectors: NDArray[np.floating], shift: Tensor, scale: Tensor) -> DenseRows:
    there = torch.from_numpy(np.any(vectors != 0, axis=1))
    rows = torch.from_numpy(np.ascontiguousarray(vectors, np.float32)) - shift
    rows = rows @ scale if scale.dim() == 2 else rows * scale
    return DenseRows(rows * there.unsqueeze(1))


def embedded(model: str, texts: Sequence[str], observer: Observer | None = None) -> Floats:
    """Return the sentence embeddings of texts [texts, width] by a model of sentence-transformers; 0 of an empty one."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise InputError(
            f"descriptions.encoder: '{model}' needs sentence-transformers: pip install 'clausal[text]'"
        ) from None
    try:
        encoder = SentenceTransformer(model)
    except Exception as error:  # a model that is not there, or a network that is not: whatever it raises
        reason = " ".join(str(error).split())[:300]
        raise InputError(f"descriptions.encoder: '{model}' cannot be loaded: {reason}") from None
    observer = observer or Observer()
    # Texts of one length are encoded together: a batch takes as long as its longest text.
    order = np.argsort([len(text) for text in texts], kind="stable")
    pieces = []
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        some = [texts[place] for place in order[start : start + _TEXTS_AT_ONCE]]
        pieces.append(np.asarray(encoder.encode(some, batch_size=64, show_progress_bar=False), np.float32))
        observer.advanced("embedding texts", start + len(some), len(texts), "texts")
    vectors = np.empty((len(texts), pieces[0].shape[1]), np.float32)
    vectors[order] = np.concatenate(pieces)
    vectors[[not text.strip() for text in texts]] = 0
    return vectors
