"""Entities that a trained model has never seen, by what describes them: a run that knows them too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from clausal.errors import InputError
from clausal.graph.descriptions import LONGEST_TEXT, read_text_file
from clausal.graph.graph import Graph
from clausal.graph.query import Question, read_query
from clausal.graph.vocabulary import Names
from clausal.model.described import DescribedEncoder
from clausal.model.encoders import FrozenTable
from clausal.model.features import DenseRows, Features, Rows, SparseRows, more_features
from clausal.model.predictor import LinkPredictor
from clausal.model.pretrained import read_named_vectors
from clausal.run.answers import Answers

if TYPE_CHECKING:
    from clausal.run.prediction import PredictOptions
    from clausal.run.run import Run


def read_descriptions(path: Path, predictor: LinkPredictor, tell: Callable[[str], None]) -> dict[str, Any]:
    """Read names with texts, or with vectors where the model was trained with vectors alone."""
    kinds = {one.kind for one in described_encoder_of(predictor).features}
    if kinds != {"vectors"}:
        return dict(read_text_file(path, tell))
    if path.suffix in (".npy", ".safetensors"):
        raise InputError(f"{path}: has no names; give word2vec text, or .parquet with the columns name and vector")
    names, vectors = read_named_vectors(path, ())
    return dict(zip(names, vectors, strict=True))


def described_encoder_of(predictor: LinkPredictor) -> DescribedEncoder:
    """Return the encoder of described entities, or say that the model has none."""
    if not isinstance(predictor.encoder, DescribedEncoder):
        raise InputError(
            "this run was trained without descriptions, so that it knows its own entities alone; train with "
            "--text FILE or --vectors FILE"
        )
    return predictor.encoder


def answer_about_texts(
    run: Run, questions: Sequence[Question], texts: Sequence[str], k: int, options: PredictOptions
) -> list[Answers]:
    """Answer questions in which texts stand for entities; what is only described there is no answer itself."""
    described = run.describe({text: text for text in texts})
    found = described.predict(list(questions), k + len(texts), **options)
    answers = []
    for question, some in zip(questions, found, strict=True):
        query = read_query(question, described.graph)
        kept = [
            answer
            for answer in some
            if not any(
                asked is None and name in texts
                for asked, name in zip(query, (answer.subject, answer.relation, answer.object), strict=True)
            )
        ]
        ranked = [answer._replace(rank=rank) for rank, answer in enumerate(kept[:k], 1)]
        answers.append(Answers(ranked, described.graph.display))
    return answers


@torch.no_grad()
def with_described(
    predictor: LinkPredictor, graph: Graph, descriptions: Mapping[str, Any], model: str
) -> tuple[LinkPredictor, Graph]:
    """Return a predictor and a graph with more entities, given the text of each, or its vector.

    ``model`` names what made features of texts in training. No parameter is changed.
    """
    encoder = described_encoder_of(predictor)
    names = [name for name in descriptions if name not in graph.entities]
    if len(names) < len(descriptions):
        known = next(name for name in descriptions if name in graph.entities)
        raise InputError(f"'{known}' is an entity of the run already; describe new ones alone")
    given = [_checked(name, descriptions[name]) for name in names]
    features = [one.extended(_rows(one, given, model)) for one in encoder.features]
    extended = type(predictor)(
        encoder.extended(features),
        predictor.scorer,
        num_entities=len(graph.entities) + len(names),
        num_relations=predictor.num_relations,
        domain=predictor.domain,
    )
    extended.relations = predictor.relations
    # The order of the vocabulary is that of the ids, so that new names come last, though others are sorted.
    return extended.eval(), replace(graph, entities=Names([*graph.entities, *names], "entity"))


@torch.no_grad()
def as_table(predictor: LinkPredictor) -> LinkPredictor:
    """Return a predictor with a vector for each entity, in the same domain; itself if it has them already."""
    if not isinstance(predictor.encoder, DescribedEncoder):
        return predictor
    table = type(predictor)(
        FrozenTable(predictor.encode_all()),
        predictor.scorer,
        num_entities=predictor.num_entities,
        num_relations=predictor.num_relations,
        domain=predictor.domain,
    )
    table.relations = predictor.relations
    return table.eval()


@torch.no_grad()
def with_own_vectors(
    before: LinkPredictor, table: LinkPredictor, given: Mapping[int, Any], model: str
) -> LinkPredictor:
    """Return a predictor of described entities whose vectors are those of a table.

    The first entities of the table are those of ``before``; ``given`` are texts or vectors of some of the others, by
    id. What its features do not say of an entity, its own vector does.
    """
    encoder = described_encoder_of(before)
    known, total = before.num_entities, table.num_entities
    described = [_checked(f"entity {place}", one) for place, one in given.items()]
    places = torch.tensor(list(given), dtype=torch.int64) - known

    def rows(one: Features) -> Rows:
        new = total - known
        return _rows(one, described, model).spread(places, new) if described else _no_rows(one, new)

    extended = encoder.extended([one.extended(rows(one)) for one in encoder.features])
    vectors = table.encode_all().to(before.device)
    own = vectors - extended.mapped(torch.arange(total, device=before.device))
    still = (vectors[:known] == before.encode_all()).all(1)
    own[:known][still] = encoder.own[still]  # as it was, to the last bit
    extended.own = nn.Parameter(own)
    made = type(before)(
        extended,
        table.scorer,
        num_entities=total,
        num_relations=before.num_relations,
        domain=before.domain,
    )
    made.relations = table.relations
    return made.eval()


def _checked(name: str, given: Any) -> Any:
    if isinstance(given, str):
        if not given.strip():
            raise InputError(f"the text of '{name}' is empty")
        return given[:LONGEST_TEXT]
    vector = np.asarray(given, np.float32)
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise InputError(f"'{name}' is described by a text, or by a vector of finite numbers")
    return vector


def _rows(features: Features, given: list[Any], model: str) -> Rows:
    """Return the rows of new entities; features of another kind than what is given are 0."""
    texts = [isinstance(one, str) for one in given]
    wants_text = features.kind != "vectors"
    if all(is_text == wants_text for is_text in texts):
        return more_features(features, given if wants_text else np.stack(given), model).to(_device(features))
    if any(is_text == wants_text for is_text in texts):
        raise InputError("describe all by texts, or all by vectors")
    return _no_rows(features, len(given))


def _no_rows(features: Features, count: int) -> Rows:
    """Return rows of entities of which features of this kind say nothing."""
    width = features.rows.width
    if isinstance(features.rows, SparseRows):
        empty = torch.zeros(0, dtype=torch.int32)
        starts = torch.zeros(count + 1, dtype=torch.int64)
        return SparseRows(starts, empty, torch.zeros(0), width).to(_device(features))
    return DenseRows(torch.zeros(count, width)).to(_device(features))


def _device(features: Features) -> torch.device:
    return next(iter(features.rows.tensors().values())).device
