"""Rankings: the metrics of random models on random facts against PyKEEN, which scores and filters on its own."""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from hypothesis import strategies as st

from clausal.evaluation import Known, metrics, rank
from clausal.model import SCORERS, LinkPredictor, Table
from differential.comparisons import Comparison

SIDES = {"both": "both", "subject": "head", "object": "tail"}
NAMES = {
    "mrr": "inverse_harmonic_mean_rank", "hits@1": "hits_at_1", "hits@3": "hits_at_3", "hits@5": "hits_at_5",
    "hits@10": "hits_at_10", "mean_rank": "arithmetic_mean_rank", "median_rank": "median_rank",
}  # fmt: skip
_cases = st.tuples(
    st.sampled_from(["distmult", "complex", "rescal", "transe"]),
    st.sampled_from([2, 4, 6]),  # dim
    st.integers(2, 40),  # entities
    st.integers(1, 5),  # relations
    st.integers(2, 200),  # facts
    st.integers(0, 2**32 - 1),
    st.sampled_from([None, 1, 3000]),  # bytes
)


def by_pykeen(case: tuple[str, int, int, int, int, int, int | None]) -> None:
    """Compare all metrics, of both sides, with ties broken in each way. Small whole numbers make scores exact."""
    scorer, dim, entities, relations, count, number, memory = case
    draw = np.random.default_rng(number)
    sizes = (entities, relations, entities)
    facts = np.unique(np.stack([draw.integers(size, size=count) for size in sizes], 1), axis=0).astype(np.int32)
    draw.shuffle(facts)
    cut = len(facts) // 2
    train, test = facts[:cut], facts[cut:]
    predictor = LinkPredictor(
        Table(entities, dim), SCORERS[scorer](dim), num_entities=entities, num_relations=relations
    ).eval()
    for parameter in predictor.parameters():
        parameter.data = torch.from_numpy(draw.integers(-2, 3, size=parameter.shape)).float()
    known = Known(facts, entities, relations)
    theirs = _by_pykeen(scorer, dim, predictor, train, test)
    for ties in ("realistic", "optimistic", "pessimistic"):
        with torch.no_grad():
            ours = metrics(rank(predictor, test, known, ties=ties, memory=memory))["filtered"]
        for side, their_side in SIDES.items():
            for name, their_name in NAMES.items():
                expected = theirs.get_metric(f"{their_side}.{ties}.{their_name}")
                assert ours[side][name] == pytest.approx(expected, rel=1e-6), (side, ties, name)


def _by_pykeen(scorer: str, dim: int, predictor: LinkPredictor, train: np.ndarray, test: np.ndarray) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pykeen.evaluation import RankBasedEvaluator
        from pykeen.models import RESCAL, ComplEx, DistMult, TransE
        from pykeen.triples import CoreTriplesFactory

        kinds = {"distmult": DistMult, "complex": ComplEx, "rescal": RESCAL, "transe": TransE}
        options = {"scoring_fct_norm": 1} if scorer == "transe" else {}
        rows = [torch.from_numpy(some.astype(np.int64)).reshape(-1, 3) for some in (train, test)]
        sizes = {"num_entities": predictor.num_entities, "num_relations": predictor.num_relations}
        factory = CoreTriplesFactory(torch.cat(rows)[:1] if not len(train) else rows[0], **sizes)
        width = dim // 2 if scorer == "complex" else dim
        model = kinds[scorer](triples_factory=factory, embedding_dim=width, random_seed=0, **options)
        tables = (
            (model.entity_representations[0], predictor.encoder.weight),
            (model.relation_representations[0], predictor.relations),
        )
        with torch.no_grad():
            for representation, values in tables:
                if scorer == "complex":  # theirs has pairs of a real and an imaginary part, ours two halves
                    values = torch.stack(values.chunk(2, -1), -1)
                weight = representation._embeddings.weight
                weight.copy_(values.reshape(weight.shape))
            for representation, _ in tables:  # what they would change before scoring stays as it is
                representation.constrainer = representation.normalizer = None
            return RankBasedEvaluator(filtered=True).evaluate(
                model, rows[1], additional_filter_triples=[rows[0]], batch_size=32, use_tqdm=False
            )


def _no_pykeen() -> str | None:
    return None if find_spec("pykeen") else "pykeen is not installed"


COMPARISONS = {"ranking": Comparison(_cases, by_pykeen, slice=15, missing=_no_pykeen)}
