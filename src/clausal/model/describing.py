"""The features that settings describe, from their files."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clausal.config import AUTO, Settings
from clausal.errors import InputError
from clausal.graph.descriptions import Tell, aligned, read_texts
from clausal.graph.graph import Graph
from clausal.model.features import Features, features_of
from clausal.model.pretrained import read_named_vectors
from clausal.observer import Observer

NGRAMS = "ngrams"


def describe(graph: Graph, settings: Settings, observer: Observer) -> list[Features]:
    """Read the texts and vectors of a graph's entities as features; none where the settings name no file."""
    about = settings.descriptions
    if not about.given:
        return []
    found = []
    seen = np.zeros(len(graph.entities), np.bool_)
    seen[graph.train[:, [0, 2]].ravel()] = True

    def tell(sentence: str) -> None:
        observer.message(f"note: {sentence}")

    if about.text is not None:
        texts = aligned(read_texts(about.text, graph, tell), graph)
        _check_seen(np.array([bool(text) for text in texts]), seen, about.text, graph)
        if about.encoder == NGRAMS:
            buckets = None if about.buckets == AUTO else int(about.buckets)
            found.append(features_of("ngrams", texts, seen, buckets=buckets))
        else:
            found.append(features_of("sentences", texts, seen, model=about.encoder, observer=observer))
    if about.vectors is not None:
        vectors = _given_vectors(about.vectors, about.names, graph, tell)
        _check_seen(np.asarray(vectors.any(1)), seen, about.vectors, graph)
        found.append(features_of("vectors", vectors, seen))
    if found:
        unseen = int((~seen).sum())
        also = f"; {unseen:,} of the entities are not in train, and known by it alone" if unseen else ""
        observer.message(f"entities are described by {' and '.join(map(_shown, found))}{also}")
    return found


def _shown(features: Features) -> str:
    if features.kind == "ngrams":
        return f"n-grams of texts, hashed to {features.rows.width:,} features"
    what = "sentence embeddings" if features.kind == "sentences" else "given vectors"
    return f"{what} of {features.rows.width:,} numbers"


def _check_seen(described: NDArray[np.bool_], seen: NDArray[np.bool_], source: str, graph: Graph) -> None:
    if not (described & seen).any():
        raise InputError(
            f"{source}: describes no entity of train in {graph.name}, so that nothing can be learnt from it"
        )


def _given_vectors(path: str, names_path: str | None, graph: Graph, tell: Tell) -> NDArray[np.float32]:
    """Return a vector for each entity, 0 for one without."""
    names, vectors = read_named_vectors(path, graph.entities, names_path)
    ids = graph.entities.ids(names)
    known = ids >= 0
    if not known.any():
        raise InputError(
            f"{path}: has a vector for no entity of {graph.name}; its names are such as '{names[0]}', and entities "
            f"such as '{graph.entities[0]}'"
        )
    unknown = int((~known).sum())
    if unknown:
        example = names[int(np.argmin(known))]
        tell(f"{path}: {unknown:,} vectors of names that {graph.name} does not have, such as '{example}', left out")
    rows = np.zeros((len(graph.entities), vectors.shape[1]), np.float32)
    rows[ids[known]] = vectors[known]
    missing = np.ones(len(rows), np.bool_)
    missing[ids[known]] = False
    if missing.any():
        example = graph.entities[int(np.argmax(missing))]
        tell(f"{path}: no vector for {int(missing.sum()):,} of {len(rows):,} entities, such as '{example}'")
    return rows
