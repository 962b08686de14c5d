"""Steps of several processes change parameters as one process does that takes the same facts and corruptions."""

import numpy as np
import pytest
import torch

from clausal.config import Settings
from clausal.graph import Graph
from clausal.logic import parse_clauses
from clausal.model.predictor import Negatives
from clausal.observer import Calling
from clausal.training import prepare
from processes import do_together

ENTITIES = 31
FACTS = [(f"e{i % ENTITIES}", "pqr"[i % 3], f"e{(i * i) % 7 if i % 4 else (5 * i) % ENTITIES}") for i in range(120)]
GRAPH = Graph.from_triples(FACTS)
CLAUSES = "p(X, Y) => q(X, Y)\nq(X, Y), r(Y, Z) => p(X, Z)\np(X, e3) => q(X, e4)\n"
CORRUPTION = {
    "model": {"scorer": "complex", "dim": 6},
    "facts": {"batches": 2, "negatives": 2, "loss": "logistic", "corruption": "bernoulli"},
    "clauses": {"adversary": "closed-form", "fallback": "skip"},
}
AGAINST_ALL = {
    "model": {"scorer": "distmult", "dim": 6, "domain": "none"},
    "facts": {
        "training": "1-vs-all", "loss": "softmax", "batches": 3, "regulariser": "n3", "label_smoothing": 0.1,
        "relation_weight": 0.5,
    },
    "clauses": {"adversary": "none"},
}  # fmt: skip


CHANGES = {
    "softmax": {},
    "k-vs-all": {"facts": {"training": "k-vs-all", "loss": "logistic", "batches": 3}},
    "transe": {
        "model": {"scorer": "transe", "dim": 6, "domain": "sphere"},
        "facts": {"training": "1-vs-all", "loss": "softmax"},
    },
}


def settings_of(values, **train):
    train = {"epochs": 1, "passes": 2, "device": "cpu"} | train
    return Settings.from_mapping(values | {"train": train, "evaluate": {"every": 0}})


def make(settings, **options):
    return prepare(GRAPH, parse_clauses(CLAUSES), settings, observer=Calling(message=lambda text: None), **options)


def table_and_relations(training):
    predictor, table = training.predictor, training.table
    return table.dealing.own_ids().tolist(), table.own_vectors().detach().numpy(), predictor.relations.detach().numpy()


def trained(peers, values, train):
    """Train, and return what there was before and after, the facts of each step and their corruptions."""
    training = make(settings_of(values, **train), peers=peers)
    before = [part.copy() for part in map(np.array, table_and_relations(training))]
    corruption, steps = training.objective.corruption, []
    draw = corruption.draw_numbers

    def recorded(facts, generator):
        numbers = draw(facts, generator)
        steps.append((facts.numpy(), training.predictor.candidates(numbers, facts).numpy()))
        return numbers

    corruption.draw_numbers = recorded
    training.run()
    return training.step.name, before, table_and_relations(training), steps


def sent(peers, clauses):
    """How many bytes a step sends."""
    training = prepare(GRAPH, parse_clauses(clauses), settings_of({"model": {"dim": 6}}), peers=peers)
    training.run()
    return training.bytes_per_step


def assembled(found):
    table = np.empty((ENTITIES, found[0][1].shape[1]), np.float32)
    for own, rows, _ in found:
        table[np.asarray(own, dtype=int)] = rows
    return table


def alone_from(values, before, train):
    """One process by plain PyTorch, with the parameters that several had at first."""
    training = make(settings_of(values, **train, step="eager"))
    training.predictor.encoder.weight.data.copy_(torch.from_numpy(assembled(before)))
    training.predictor.relations.data.copy_(torch.from_numpy(before[0][2]))
    return training


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    tasks = {step: (trained, (CORRUPTION, {"step": step})) for step in ("auto", "eager")}
    tasks |= {name: (trained, (AGAINST_ALL | changes, {})) for name, changes in CHANGES.items()}
    tasks["bytes without clauses"] = (sent, ("",))
    tasks["bytes with clauses"] = (sent, ("p(X, Y) => q(X, Y)\nq(X, Y), r(Y, Z) => p(X, Z)\n",))
    tasks["bytes with an entity"] = (sent, ("p(X, e3) => q(X, e4)\n",))
    return do_together(2, tmp_path_factory.mktemp("two"), tasks)


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    tasks = {"auto": (trained, (CORRUPTION, {"step": "auto"}))}
    tasks["k-vs-all"] = (trained, (AGAINST_ALL | CHANGES["k-vs-all"], {}))
    return do_together(4, tmp_path_factory.mktemp("four"), tasks)


@pytest.mark.parametrize(("size", "step"), [("two", "auto"), ("four", "auto"), ("two", "eager")])
def test_facts_and_corruptions_of_all_processes_make_one_step(request, size, step):
    answers = request.getfixturevalue(size)[step]
    assert {name for name, *_ in answers} == {"by rows" if step == "eager" else "fused, in place"}
    alone = alone_from(CORRUPTION, [before for _, before, _, _ in answers], {})
    alone.objective.clauses.adopt(alone.find_adversarial_set())
    taken = []
    for parts in zip(*(steps for *_, steps in answers), strict=True):
        facts = torch.from_numpy(np.concatenate([facts for facts, _ in parts]))
        drawn = torch.from_numpy(np.concatenate([drawn for _, drawn in parts], 1))
        taken += [tuple(fact) for fact in facts.tolist()]
        alone.objective.corruption.draw = lambda *_, drawn=drawn: Negatives(*drawn.chunk(2))
        alone.step(facts, torch.Generator())
    assert sorted(taken) == sorted([tuple(fact) for fact in GRAPH.train.tolist()] * 2)
    after = [after for _, _, after, _ in answers]
    np.testing.assert_allclose(assembled(after), alone.predictor.encoder.weight.detach(), rtol=1e-4, atol=1e-5)
    for _, _, relations in after:
        np.testing.assert_allclose(relations, alone.predictor.relations.detach(), rtol=1e-4, atol=1e-5)
        assert (relations == after[0][2]).all()  # in the same bits everywhere
    for own, drawn in zip(after, answers, strict=True):  # corruptions are own rows, which need not travel
        assert {int(one) for _, numbers in drawn[3] for one in numbers.ravel()} <= set(own[0])


@pytest.mark.parametrize(
    ("size", "kind"), [("two", "softmax"), ("two", "k-vs-all"), ("two", "transe"), ("four", "k-vs-all")]
)
def test_against_all_entities_several_processes_train_as_one(request, size, kind):
    answers, values = request.getfixturevalue(size)[kind], AGAINST_ALL | CHANGES[kind]
    assert {name for name, *_ in answers} == {"against all, by rows"}
    alone = alone_from(values, [before for _, before, _, _ in answers], {})
    alone.run()
    after = [after for _, _, after, _ in answers]
    np.testing.assert_allclose(assembled(after), alone.predictor.encoder.weight.detach(), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(after[0][2], alone.predictor.relations.detach(), rtol=1e-3, atol=1e-5)


def test_clauses_add_no_bytes_unless_they_name_an_entity(two):
    plain = two["bytes without clauses"]
    assert min(plain) > 0
    assert two["bytes with clauses"] == plain
    assert sum(two["bytes with an entity"]) > sum(plain)
