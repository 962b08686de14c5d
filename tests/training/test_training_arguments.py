"""What a training is given from Python is checked first, copied where it is a user's, and leaves no trace."""

import pytest
import torch
from synthetic import knowledge_base
from torch import nn
from trainings import identical, parameters, run, settings_with

from clausal.errors import InputError
from clausal.logic import parse_clause
from clausal.model import MultilinearScorer, Scorer, Table
from clausal.observer import Calling
from clausal.training import prepare


class Scaled(MultilinearScorer):
    """DistMult with a shared scale."""

    name = "scaled"

    def __init__(self, dim):
        super().__init__(dim)
        self.scale = nn.Parameter(torch.ones(dim))

    def object_query(self, subject, relation):
        return self.scale * relation * subject

    subject_query = object_query


class Bounded(Scorer):
    """DistMult of bounded products, which is linear in nothing."""

    name = "bounded"

    def score(self, subject, relation, object):
        return (relation * subject * object).tanh().sum(-1)


@pytest.fixture(scope="module")
def base():
    return knowledge_base("implication")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"graph": "facts.tsv"}, "graph: expected a Graph, got str"),
        ({"clauses": "clauses.txt"}, "clauses: expected a list of clauses, got text"),
        ({"clauses": ["p(X, Y) => q(X, Y)"]}, "clauses: expected a Clause, got str"),
        ({"settings": {"model": {"dim": 4}}}, "settings: expected a Settings, got dict"),
        ({"scorer": nn.Linear(2, 2)}, "scorer: expected a Scorer, got Linear"),
        ({"encoder": Table(3, 20)}, "encoder: "),
        ({"encoder": Table(30, 7)}, r"encoder\(ids\) must have shape \[30, 20\]; got \[30, 7\]"),
    ],
)
def test_each_mistake_gets_one_message(base, changes, message):
    given = {"graph": base.graph, "clauses": base.clauses, "settings": settings_with()} | changes
    with pytest.raises(InputError, match=message):
        prepare(**given)


@pytest.mark.parametrize(
    ("scorer", "facts", "message"),
    [
        (Bounded(20), {"regulariser": "dura"}, "facts.regulariser: dura is for a MultilinearScorer"),
        (Scaled(20), {"relation_weight": 1.0}, "facts.relation_weight: is for scorers with trilinear terms"),
        (Bounded(20), {"relation_weight": 1.0}, "facts.relation_weight: is for scorers with trilinear terms"),
    ],
)
def test_a_loss_that_needs_more_of_an_own_scorer_than_it_has_is_refused(base, scorer, facts, message):
    settings = settings_with(facts={"training": "1-vs-all", "loss": "softmax"} | facts)
    with pytest.raises(InputError, match=message):
        prepare(base.graph, base.clauses, settings, scorer=scorer)
    prepare(base.graph, base.clauses, settings_with(facts={"training": "1-vs-all", "loss": "softmax"}), scorer=scorer)


def test_a_second_training_does_not_change_the_first(base):
    scorer, encoder = Scaled(20), Table(30, 20)
    given = [value.clone() for value in (scorer.scale, encoder.weight)]
    first, _ = run(base.graph, base.clauses, settings_with(), scorer=scorer, encoder=encoder)
    before = parameters(first)
    run(base.graph, base.clauses, settings_with(train={"seed": 1}), scorer=scorer, encoder=encoder)
    assert identical(parameters(first), before)
    assert not torch.equal(first.scorer.scale, given[0])
    assert torch.equal(scorer.scale, given[0])
    assert torch.equal(encoder.weight, given[1])


def test_training_leaves_the_global_generator_alone(base):
    torch.manual_seed(5)
    expected = torch.rand(3)
    training = prepare(base.graph, base.clauses, settings_with(train={"epochs": 1, "passes": 1}))
    torch.manual_seed(5)
    training.run()
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(("scorer", "loss", "noted"), [("transe", "hinge", True), ("transe", "pairwise", False)])
def test_a_loss_that_facts_cannot_satisfy_is_noted(base, scorer, loss, noted):
    told = []
    settings = settings_with(model={"scorer": scorer}, facts={"loss": loss})
    prepare(base.graph, [parse_clause(str(base.clauses[0]))], settings, observer=Calling(message=told.append))
    assert any("never positive" in message for message in told) is noted


def test_batches_stay_bounded_however_large_the_graph(base, monkeypatch):
    training = prepare(base.graph, (), settings_with(facts={"batches": 1}))
    assert training.objective.batch_size == len(base.graph.train)
    monkeypatch.setattr("clausal.training.objective._NUMBERS_IN_A_BATCH", 4 * 20 * 10)
    assert training.objective.batch_size == 10
