"""J_F of a batch against all entities, and the penalty on its vectors, which are looked up once for both.

Beside its answer, the relation of a query can be predicted from its entities: an auxiliary loss (Chen et al. 2021).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from clausal.config import AUTO, Settings
from clausal.fast import fastest
from clausal.model.encoders import Table
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers.base import MultilinearScorer, Terms
from clausal.training.against_all.losses import ALL_ENTITIES_LOSSES, AllEntitiesLoss, Softmax, loss_of_products
from clausal.training.against_all.queries import Answers, KVsAll, OneVsAll, Queries, QuerySource
from clausal.training.regularisers import penalty, query_vectors

DESCRIBED_CANDIDATES = 1024
"""How many entities are drawn for a step where they are described: encoding all takes longer than the step."""


@dataclass(frozen=True, eq=False)
class AgainstAll:
    """Scores every entity as the answer to each query of a batch."""

    predictor: LinkPredictor
    source: QuerySource
    loss: AllEntitiesLoss
    regulariser: str
    regulariser_weight: float
    precision: str
    relation_weight: float = 0.0
    candidates: int | None = None
    """How many entities are drawn at random for each batch, beside its own, to compete as answers; None for all."""

    @property
    def whole_table(self) -> bool:
        """Whether all entities compete, and their vectors are a table."""
        return self.candidates is None and isinstance(self.predictor.encoder, Table)

    def __call__(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss of a batch of the source's rows, and the weighted penalty on its vectors."""
        queries = self.source.queries(rows)
        if self.whole_table:
            return self.of_vectors(queries, self.predictor.encode(queries.entities))
        # Each entity is encoded once, whether it is known, an answer or another candidate.
        own = queries.entities
        ids, places = torch.cat([own, self._others(own.device)]).unique(return_inverse=True)
        candidates, places = self.predictor.encode(ids), places[: len(own)]
        queries = replace(queries, answers=replace(queries.answers, entities=places[len(queries.known) :]))
        return self.of_vectors(queries, candidates[places], candidates)

    def _others(self, device: torch.device) -> Tensor:
        """Return the entities that compete with a batch's own."""
        predictor = self.predictor
        if self.candidates is None:
            drawn = torch.arange(predictor.num_candidates, device=device)
        else:
            drawn = torch.randint(predictor.num_candidates, (self.candidates,), device=device)
        return drawn if predictor.trained is None else predictor.trained[drawn]

    def of_vectors(self, queries: Queries, vectors: Tensor, candidates: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the same, given the vectors of the queries' entities.

        ``candidates`` are the vectors that answers are numbers of; those of all entities by default.
        """
        known, answers = vectors.tensor_split([len(queries.known)])
        candidates = self.predictor.encode_all() if candidates is None else candidates
        multilinear = isinstance(self.predictor.scorer, MultilinearScorer)
        asked = query_vectors(self.predictor, queries, known) if multilinear else None
        own = penalty(self.regulariser, self.predictor, queries, known, answers, asked)
        if asked is None:
            return self.loss(self.scores(queries, known, candidates), queries.answers), self.regulariser_weight * own
        loss = _loss_of_products(asked, candidates, queries.answers, self.loss, self.precision)
        if self.relation_weight:
            loss = loss + self.relation_weight * relation_loss(self.predictor, queries, known, answers, self.precision)
        return loss, self.regulariser_weight * own

    def scores(self, queries: Queries, known: Tensor, candidates: Tensor) -> Tensor:
        """Score candidates [entities, dim] as answers, given the vectors of what is known in each query."""
        predictor, scorer = self.predictor, self.predictor.scorer
        relation = predictor.relation(queries.relation_rows(predictor))
        if predictor.rows_per_relation > 1:  # (?, r, o) is read as (o, r⁻¹, ?)
            return scorer.score_objects(known, relation, candidates)
        (subjects, objects), (forward, backward) = (one.tensor_split([queries.forward]) for one in (known, relation))
        by_object = scorer.score_objects(subjects, forward, candidates)
        return torch.cat([by_object, scorer.score_subjects(candidates, backward, objects)])


def against_all(predictor: LinkPredictor, facts: Tensor, settings: Settings) -> AgainstAll | None:
    """Make what the settings describe for train facts [facts, 3]; None for training by corruption."""
    about = settings.facts
    if about.training == "corruption":
        return None
    source = OneVsAll(facts) if about.training == "1-vs-all" else KVsAll(facts, predictor.num_entities)
    loss = ALL_ENTITIES_LOSSES[about.loss](about.label_smoothing)
    return AgainstAll(
        predictor,
        source,
        loss,
        regulariser=about.regulariser,
        regulariser_weight=about.regulariser_weight,
        precision=settings.train.precision,
        relation_weight=about.relation_weight,
        candidates=_drawn(predictor, settings),
    )


def _drawn(predictor: LinkPredictor, settings: Settings) -> int | None:
    """Return how many candidates a step draws; None for all entities."""
    wanted = settings.facts.candidates
    if wanted == AUTO:
        wanted = DESCRIBED_CANDIDATES if settings.descriptions.given else "all"
    few = isinstance(wanted, int) and wanted < predictor.num_candidates
    return int(wanted) if few else None


def relation_loss(predictor: LinkPredictor, queries: Queries, known: Tensor, answers: Tensor, precision: str) -> Tensor:
    """Σ −log softmax of each query's relation among all, given the vectors of what is known and of the one answer.

    With reciprocal relations a query for a subject is read from object to subject, and the relations of both
    directions compete.
    """
    assert predictor.scorer.terms is not None
    rows, subject, object = queries.relation_rows(predictor), known, answers
    if predictor.rows_per_relation == 1:
        asked, answering = known.tensor_split([queries.forward]), answers.tensor_split([queries.forward])
        subject, object = torch.cat([asked[0], answering[1]]), torch.cat([answering[0], asked[1]])
    features = relation_features(predictor.scorer.terms, subject, object)
    return _loss_of_products(features, predictor.relations, Answers.one_each(rows), Softmax(), precision)


def _loss_of_products(
    queries: Tensor, candidates: Tensor, answers: Answers, loss: AllEntitiesLoss, precision: str
) -> Tensor:
    given = queries, candidates, answers, loss, precision
    return fastest(loss_of_products, *given)(*given)


def relation_features(terms: Terms, subject: Tensor, object: Tensor) -> Tensor:
    """Return f with φ = ⟨relation, f⟩ for a trilinear scorer: f[ρ] = Σ w x[σ] y[ω] over its terms."""
    x, y = subject.chunk(terms.parts, -1), object.chunk(terms.parts, -1)
    parts: dict[int, Tensor] = {}
    for weight, relation, of_subject, of_object in terms.terms:
        product = weight * x[of_subject] * y[of_object]
        parts[relation] = parts[relation] + product if relation in parts else product
    return torch.cat([parts[relation] for relation in sorted(parts)], -1)
