"""Completion finds exactly the facts that scoring all of them one by one finds."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clausal.config import Settings
from clausal.evaluation import completion, pairs
from clausal.evaluation.calibration import Calibration, Fit
from clausal.evaluation.completion import complete
from clausal.evaluation.pairs import pair_finder
from clausal.evaluation.probabilities import Curve
from clausal.evaluation.protocol import score_facts
from clausal.model.build import build_predictor
from clausal.model.tensors import generator_at

ENTITIES, RELATIONS = 13, 3
CURVED = Fit(0.8, -0.2, 0.0, 100, Curve((0.2, 0.5, 0.9), (0.1, 0.6, 0.6)))
CALIBRATION = Calibration(
    Fit(1.5, 0.1, 0.0, 100, Curve((0.1, 0.8), (0.05, 0.97))), {0: CURVED, 2: Fit(3.0, -1.0, 0.0, 50)}
)


def model(scorer, *, reciprocal=False, seed=0, domain="none"):
    about = Settings.from_mapping(
        {"model": {"scorer": scorer, "dim": 8, "domain": domain, "reciprocal": reciprocal}}
    ).model
    predictor = build_predictor(about, ENTITIES, RELATIONS, pairs=torch.tensor([[0, 1], [1, 2], [5, 7]]))
    predictor.reset_parameters(generator_at(seed, 0))
    predictor.scale_(2.0)
    return predictor.eval()


def by_hand(predictor, known, relations, least, limit, per_entity):
    """Score every fact, drop what is known or not probable enough, sort, and cut."""
    facts = np.array([(s, r, o) for r in relations for s in range(ENTITIES) for o in range(ENTITIES)])
    facts = facts[~known(facts)]
    scores = score_facts(predictor, facts)
    chances = CALIBRATION.probabilities(scores, facts[:, 1])
    fits = [CALIBRATION.relations.get(r, CALIBRATION.overall) for r in facts[:, 1].tolist()]
    odds = [fit.slope * score + fit.intercept for fit, score in zip(fits, scores, strict=True)]
    order = sorted(range(len(facts)), key=lambda i: (-chances[i], -odds[i], *facts[i][[1, 0, 2]]))
    kept, each = [], {}
    for place in order:
        subject = facts[place][0]
        if chances[place] >= least and each.get(subject, 0) < (per_entity or ENTITIES**2):
            kept.append(place)
            each[subject] = each.get(subject, 0) + 1
    kept = kept[:limit]
    return facts[kept], scores[kept]


@pytest.mark.parametrize(
    ("scorer", "reciprocal"),
    [("complex", False), ("complex", True), ("rescal", False), ("transe", False), ("rotate", True), ("model-f", False)],
)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    least=st.sampled_from([0.0, 0.1, 0.5, 0.6, 0.61, 0.9, 1.0]),
    limit=st.one_of(st.none(), st.integers(1, 60)),
    per_entity=st.one_of(st.none(), st.integers(1, 5)),
    relations=st.sets(st.integers(0, RELATIONS - 1), min_size=1).map(sorted),
    held=st.integers(0, 3),
)
def test_completion_finds_what_scoring_all_finds(scorer, reciprocal, seed, least, limit, per_entity, relations, held):
    predictor = model(scorer, reciprocal=reciprocal, seed=seed)
    known = lambda facts: (facts.sum(1) % 4) < held  # noqa: E731
    wanted = {"relations": relations, "least": least, "limit": limit, "per_entity": per_entity}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completion, "_KEPT_AT_ONCE", 10)  # so that the floor rises as it does on large graphs
        patch.setattr("clausal.evaluation.pairs._SCORES_AT_ONCE", 40)
        found = complete(predictor, CALIBRATION, known, **wanted)
    facts, scores = by_hand(predictor, known, **wanted)
    assert sorted(map(tuple, found.facts.tolist())) == sorted(map(tuple, facts.tolist()))
    np.testing.assert_array_equal(found.scores, scores)
    assert found.decided == len(relations) * ENTITIES**2


def test_short_vectors_are_not_multiplied(monkeypatch):
    predictor = model("distmult")
    predictor.encoder.weight.data[4:] *= 1e-3
    with torch.no_grad():
        everyone = torch.arange(ENTITIES)
        best = max(float(predictor.score_objects(everyone, 0 * everyone + one).max()) for one in range(RELATIONS))
    columns = []
    product = pairs._products
    monkeypatch.setattr(pairs, "_products", lambda x, y: columns.append(len(y)) or product(x, y))
    finder = pair_finder(predictor)
    for relation in range(RELATIONS):
        list(finder.reaching(relation, best / 2))
    assert 1 <= max(columns) <= 4
