"""Trained models obey hard clauses to the last bit: in every form of the step, on average, at their best, on disk."""

from __future__ import annotations

import pytest
import torch

from clausal import Graph, Settings, load, parse_clauses, resume, train
from clausal.adversary import group_clauses
from clausal.observer import Observer
from clausal.training import prepare
from command_line import clausal
from hard_models import worst_found

CLAUSES = """\
p(X, Y) => q(X, Y) <hard>
q(X, Y) => r(Y, X) <hard>
s(X, Y) => s(Y, X) <hard>
t(X, small) => t(X, large) <hard>
t(X, large) => t(X, any) <hard>
p(X, Y), q(Y, Z) => r(X, Z)
"""
HARD = 5
SHAPES = """\
p(X, Y), q(X, Y) => r(X, Y) <hard>
p(X, X) => q(X, X) <hard>
s(X, Y), s(Y, X) => false <hard>
q(X, Y), s(Y, X) => false <hard>
t(X, small), t(X, large) => t(X, any) <hard>
t(X, Y) => r(X, Y) | q(X, Y) <hard>
"""


class Messages(Observer):
    """Keeps what a user is told."""

    def __init__(self):
        self.texts = []

    def message(self, text):
        self.texts.append(text)


def make_graph():
    facts = [(f"e{i}", "pqrs"[i % 4], f"e{(7 * i) % 11}") for i in range(60)]
    facts += [(f"e{i}", "t", name) for i in range(11) for name in ("small", "large", "any")[i % 3 :]]
    facts += [("self", "p", "self"), ("self", "p", "self")]
    graph = Graph.from_triples(facts)
    return Graph(graph.entities, graph.relations, graph.train[::2], graph.train[1::8], graph.train[5::8])


GRAPH = make_graph()
AGAINST_ALL = {"training": "1-vs-all", "loss": "softmax", "regulariser": "n3", "regulariser_weight": 0.01}


def make_settings(domain="cube", step="eager", facts=None, **others):
    model = {"scorer": others.pop("scorer", "complex"), "dim": 8, "domain": domain} | others.pop("model", {})
    training = {"epochs": 3, "passes": 2, "device": "cpu", "step": step} | others.pop("train", {})
    return Settings.from_mapping(
        {
            "model": model,
            "facts": facts or {"batches": 3},
            "clauses": {"sets": 2, "steps": 2} | others.pop("clauses", {}),
            "train": training,
            "evaluate": {"every": 1, "patience": 0},
        }
    )


def assert_holds(run, count=HARD):
    found = run.certify(tolerance=0).clauses[:count]
    assert [one.verdict for one in found] == ["holds for all"] * count
    assert [one.bound for one in found] == [0.0] * count
    assert {one.method for one in found} == {"order"}
    assert all(one.entities is not None and one.entities.worst == 0 for one in found)


@pytest.mark.parametrize(
    "settings",
    [
        make_settings(),
        make_settings(step="fused"),
        make_settings(step="auto", domain="cone", facts=AGAINST_ALL),
        make_settings(domain="cone", facts=AGAINST_ALL, train={"averaging": 0.7}),
        make_settings(train={"averaging": 0.7, "optimizer": "adam", "learning_rate": 0.05}),
        make_settings(domain="cone", facts=AGAINST_ALL, model={"reciprocal": True}),
        make_settings(domain="cone", facts=AGAINST_ALL, model={"reciprocal": True, "free": 0.5}),
        make_settings(domain="cone", step="auto", model={"free": 0.5}),
        make_settings(scorer="rescal"),
        make_settings(scorer="simple", clauses={"weight": 0}),
    ],
    ids=[
        "eager",
        "fused",
        "against all",
        "average",
        "adam",
        "reciprocal",
        "some free",
        "some free, corruptions",
        "rescal",
        "no soft clauses",
    ],
)
def test_hard_clauses_hold_after_training_and_after_loading(settings, tmp_path):
    run = train(GRAPH, parse_clauses(CLAUSES), settings, out=tmp_path / "run")
    assert_holds(run)
    assert_holds(load(tmp_path / "run"))
    assert run.predictor.relations.abs().sum() > 0


@pytest.mark.parametrize(
    "settings",
    [
        make_settings(),
        make_settings(step="fused"),
        make_settings(domain="cone", facts=AGAINST_ALL, model={"reciprocal": True}, train={"averaging": 0.7}),
        make_settings(scorer="rescal", train={"optimizer": "adam", "learning_rate": 0.05}),
        make_settings(scorer="simple", train={"optimizer": "sgd", "learning_rate": 0.01}),
    ],
    ids=["eager", "fused", "reciprocal", "rescal", "simple"],
)
def test_constraints_conjunctions_and_classes_hold_after_training_and_after_loading(settings, tmp_path):
    clauses = parse_clauses(SHAPES)
    train(GRAPH, clauses, settings, out=tmp_path / "run")
    run = load(tmp_path / "run")
    assert_holds(run, len(clauses))
    for group in group_clauses(clauses, GRAPH.entities, GRAPH.relations):
        assert worst_found(run.predictor, group, starts=1000, steps=5) <= 1e-12
    assert clausal("certify", tmp_path / "run", "--tolerance", "0", "--require", "all").code == 0


@pytest.mark.gpu
@pytest.mark.parametrize("averaging", [0.0, 0.7])
@pytest.mark.parametrize("facts", [None, AGAINST_ALL], ids=["corruptions", "against all"])
@pytest.mark.parametrize(
    "model",
    [{}, {"domain": "cone", "free": 0.5}, {"domain": "cone", "free": 0.5, "reciprocal": True}],
    ids=["none free", "some free", "some free, reciprocal"],
)
def test_hard_clauses_hold_after_training_on_a_gpu(model, facts, averaging, tmp_path):
    """Five passes: the first is done plainly, the second is recorded and the others are replayed."""
    on_gpu = {"device": "cuda", "epochs": 5, "passes": 1, "averaging": averaging}
    domain = "cone" if facts else "cube"
    settings = make_settings(step="auto", domain=domain, facts=facts, model=model, train=on_gpu)
    run = train(GRAPH, parse_clauses(CLAUSES), settings, out=tmp_path / "run")
    assert_holds(run)
    if model:  # free numbers have both signs
        assert run.predictor.encoder.weight.min() < 0
    assert_holds(load(tmp_path / "run", device="cpu"))


def test_a_marked_clause_is_not_hard_where_the_settings_say_so():
    run = train(GRAPH, parse_clauses(CLAUSES), make_settings(clauses={"hard": "none"}))
    assert not all(one.verdict == "holds for all" for one in run.certify(tolerance=0).clauses[:HARD])


def test_all_clauses_that_can_be_hard_are_named_hard_and_the_others_soft():
    told = Messages()
    text = CLAUSES.replace(" <hard>", "")
    run = train(GRAPH, parse_clauses(text), make_settings(clauses={"hard": "all"}), observer=told)
    assert_holds(run)
    (said,) = (text for text in told.texts if "hard" in text)
    assert said.startswith("5 clauses hard")
    assert "predict --consistent makes answers obey it:\n    p(X, Y), q(Y, Z) => r(X, Z)" in said


def test_hard_clauses_take_no_part_in_the_loss():
    training = prepare(GRAPH, parse_clauses(CLAUSES), make_settings())
    assert [str(clause) for group in training.objective.groups for clause in group.clauses] == [
        "p(X, Y), q(Y, Z) => r(X, Z)"
    ]


def test_without_an_adversary_there_are_no_clauses_at_all():
    assert (
        prepare(GRAPH, parse_clauses(CLAUSES), make_settings(clauses={"adversary": "none"})).predictor.feasible is None
    )


@pytest.mark.parametrize("clauses", [CLAUSES, SHAPES])
def test_fused_and_eager_steps_take_the_same_way(clauses):
    relations = []
    for step in ("eager", "fused"):
        run = train(GRAPH, parse_clauses(clauses), make_settings(step=step))
        relations.append(run.predictor.relations.detach())
    torch.testing.assert_close(*relations, rtol=1e-3, atol=1e-4)


def test_an_interrupted_training_goes_on_in_the_same_bits(tmp_path):
    clauses, settings = parse_clauses(CLAUSES), make_settings(train={"averaging": 0.5, "checkpoint_seconds": 0.0})
    whole = train(GRAPH, clauses, settings)

    class Stop(Observer):
        def passed(self, report):
            if report.epoch == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(GRAPH, clauses, settings, out=tmp_path / "run", observer=Stop())
    resumed = resume(tmp_path / "run")
    for one, other in zip(whole.predictor.parameters(), resumed.predictor.parameters(), strict=True):
        assert torch.equal(one, other)
    assert_holds(resumed)


def test_strange_graphs():
    """One relation, one entity, no valid facts: symmetry is hard, and an implication of itself is nothing."""
    graph = Graph.from_triples([("a", "p", "a")])
    run = train(graph, parse_clauses("p(X, Y) => p(Y, X) <hard>\np(X, Y) => p(X, Y) <hard>"), make_settings())
    assert_holds(run, 2)


def test_entities_outside_of_the_domain_are_asked_all_the_same():
    run = train(GRAPH, parse_clauses(CLAUSES), make_settings())
    run.predictor.encoder.weight.data[::2] *= -1
    found = run.certify(tolerance=0).clauses[0]
    assert found.bound == 0
    assert found.verdict == "violated"


RELATED = ("narrow", "wide", "apart")


def test_no_decision_breaks_a_hard_clause():
    facts = [(f"e{one}", relation, f"e{other}") for one in range(30) for other in (one * 7 % 30, one * 3 % 29)
             for relation in RELATED]  # fmt: skip
    graph = Graph.from_triples(facts).split(valid=0.4, test=0.0, seed=1)
    clauses = parse_clauses("narrow(X, Y) => wide(X, Y) <hard>\nwide(X, Y) => wide(Y, X) <hard>")
    run = train(graph, clauses, make_settings())
    narrow, wide, apart = (run.calibration.relations.get(graph.relations.id(name)) for name in RELATED)
    assert narrow == wide != apart
    assert narrow is not None
    assert run.predictor.feasible.connected == [{graph.relations.id("narrow"), graph.relations.id("wide")}]
    for probability in (None, 0.5, 0.9):
        decided = run.decisions(probability=probability, consistent=False).clauses
        assert [one.before.broken for one in decided] == [0, 0]
    assert sum(one.before.accepted for one in run.decisions(consistent=False).clauses) > 0


def test_no_decision_breaks_a_hard_constraint():
    """Both relations have the same facts, so that a fit to these alone would accept both below 0."""
    facts = [(f"e{one}", relation, f"e{one * 7 % 30}") for one in range(30) for relation in RELATED]
    graph = Graph.from_triples(facts).split(valid=0.4, test=0.0, seed=1)
    clauses = parse_clauses("narrow(X, Y), apart(X, Y) => false <hard>")
    run = train(graph, clauses, make_settings())
    ids = {graph.relations.id(name) for name in ("narrow", "apart")}
    assert run.predictor.feasible.excluded == ids
    assert all(run.calibration.relations[relation].threshold > 0 for relation in ids)
    (decided,) = run.decisions(consistent=False).clauses
    assert decided.before.broken == 0
