"""A random part of the clauses for each step: its mean is the whole, and the seed alone decides on it."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from trainings import identical, parameters, settings_with

from clausal import resume, train
from clausal.adversary.parts import count_clauses, deal
from clausal.config import Settings
from clausal.errors import InputError
from clausal.graph import Graph
from clausal.logic import parse_clauses
from clausal.observer import Calling
from clausal.training import certified, prepare
from random_models import groups_of

NAMES = "pqrst"
TEXTS = (
    *(f"{one}(X, Y) => {other}(X, Y)" for one, other in pairwise(NAMES)),
    *(f"{one}(X, Y) => {other}(Y, X)" for one in NAMES for other in NAMES if one < other),
    *(f"{one}(X, Y), {other}(Y, Z) => t(X, Z) <0.{1 + i}>" for i, (one, other) in enumerate(pairwise(NAMES))),
    "p(X, e1) => q(X, e2)",
)
GRAPH = Graph.from_triples([(f"e{i % 7}", NAMES[i % 5], f"e{(3 * i + i // 7) % 11}") for i in range(80)])
CLAUSES = parse_clauses("\n".join(TEXTS))
ADVERSARIES = ("gradient", "closed-form", "entities")
FACTS = {
    "corruption": {},
    "1-vs-all": {"training": "1-vs-all", "loss": "softmax"},
}


def prepared(step="auto", facts="corruption", reciprocal=False, **clauses):
    settings = settings_with(
        model={"reciprocal": reciprocal, "domain": "cube" if facts == "corruption" else "none"},
        facts=FACTS[facts] | {"batches": 4},
        clauses={"sets": 3, **clauses},
        train={"epochs": 3, "passes": 2, "step": step},
    )
    return prepare(GRAPH, CLAUSES, settings, observer=Calling(message=lambda text: None))


def rows_of(groups):
    """What is known of each clause, whatever the order."""
    return {
        (str(clause), group.shape, *relations, *constants, weight)
        for group in groups
        for clause, relations, constants, weight in zip(
            group.clauses, group.relations.tolist(), group.constants.tolist(), group.weights.tolist(), strict=True
        )
    }


@pytest.mark.parametrize("parts", [1, 2, 5, 19])
@pytest.mark.parametrize("reciprocal", [False, True])
def test_every_clause_is_in_one_part_and_parts_are_as_large(parts, reciprocal):
    groups = prepared(reciprocal=reciprocal).objective.groups
    dealt = deal(groups, parts, parts, torch.Generator().manual_seed(1))
    held = [[clause for group in part for clause in group.clauses] for part in dealt]
    assert sorted(str(clause) for part in held for clause in part) == sorted(
        str(clause) for group in groups for clause in group.clauses
    )
    sizes = [count_clauses(part) for part in dealt]
    assert max(sizes) - min(sizes) <= 1
    assert sum(sizes) == len(CLAUSES)
    assert rows_of(groups) == rows_of([group for part in dealt for group in part])


def test_a_clause_is_as_often_in_the_first_part_as_in_any_other():
    groups = groups_of(*TEXTS[:3], *TEXTS[4:7])
    counts = dict.fromkeys((str(clause) for group in groups for clause in group.clauses), 0)
    for seed in range(600):
        (part,) = deal(groups, 4, 1, torch.Generator().manual_seed(seed))
        for group in part:
            for clause in group.clauses:
                counts[str(clause)] += 1
    assert all(abs(count - 150) < 4 * (600 * 0.25 * 0.75) ** 0.5 for count in counts.values())


@pytest.mark.parametrize("step", ["auto", "eager"])
@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_the_mean_over_the_parts_is_the_whole_loss_and_its_gradient(adversary, step):
    """The whole is given the sets of all parts."""
    training = prepared(step=step, adversary=adversary, per_step=4)
    clauses, predictor = training.objective.clauses, training.predictor
    parts = clauses.share.parts
    clauses.share = type(clauses.share)(parts, parts)  # search for all of them
    with training.choice.in_use():
        training.objective.clauses.adopt(training.find_adversarial_set())
        values, gradients = [], []
        for part in range(parts):
            clauses.take_turn(part)
            loss = training.objective.weighted(training.objective.inconsistency())
            values.append(loss.detach())
            gradients.append(torch.autograd.grad(loss, predictor.relations)[0])
    groups, found = [], []
    for part in clauses.parts:
        groups += part.groups
        found += part.loss.adversarial_set
    everything = type(clauses.parts[0].loss)(training.adversary, predictor, groups)
    everything.adopt(found)
    whole = everything()
    total = (torch.cat([group.weights for group in groups]) * whole).sum()
    (gradient,) = torch.autograd.grad(total, predictor.relations)
    assert parts == 5
    assert torch.allclose(torch.stack(values).mean(), total, rtol=1e-4)
    assert torch.allclose(torch.stack(gradients).mean(0), gradient, rtol=1e-3, atol=1e-5)
    if adversary == "closed-form" and step == "eager":
        other = prepared(step=step, adversary=adversary, per_step="all")
        other.predictor.load_state_dict(predictor.state_dict())
        other.objective.clauses.adopt(other.find_adversarial_set())
        own = other.objective.inconsistency()[: len(TEXTS) - 1]  # the last one is searched at random
        others = {
            str(clause): value.item()
            for group, values in zip(groups, whole.split([len(group) for group in groups]), strict=True)
            for clause, value in zip(group.clauses, values, strict=True)
        }
        names = [str(clause) for group in other.objective.groups for clause in group.clauses]
        assert own.tolist() == pytest.approx([others[name] for name in names[: len(TEXTS) - 1]], rel=1e-4)


@pytest.mark.parametrize("facts", FACTS)
@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("step", ["auto", "eager"])
def test_a_training_resumes_bit_by_bit_in_the_middle_of_an_epoch(adversary, facts, step):
    def make():
        return prepared(step=step, facts=facts, reciprocal=facts == "1-vs-all", adversary=adversary, per_step=5)

    states, first = [], make()
    assert first.objective.clauses.sampled
    first.run(checkpoint=lambda at: states.append(at.state()))
    for state in (states[2], states[3]):  # in an epoch, and at the end of one
        again = make()
        again.restore(*state)
        again.run()
        assert identical(parameters(again.predictor), parameters(first.predictor))
    other = make()
    other.run()
    assert identical(parameters(other.predictor), parameters(first.predictor))


def test_a_run_directory_of_sampled_clauses_goes_on_after_an_interruption(tmp_path):
    settings = Settings.from_mapping(
        {
            "model": {"dim": 8},
            "clauses": {"per_step": 4, "sets": 2},
            "train": {"epochs": 4, "passes": 3, "checkpoint_seconds": 0, "device": "cpu"},
        }
    )
    whole = train(GRAPH, CLAUSES, settings)
    seen = []

    def interrupt(report):
        seen.append(report)
        if len(seen) == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(GRAPH, CLAUSES, settings, out=tmp_path / "run", observer=Calling(passed=interrupt))
    again = resume(tmp_path / "run")
    assert identical(parameters(again.predictor), parameters(whole.predictor))
    assert all(report.estimated and report.violated <= len(CLAUSES) + 4 for report in seen)


def test_few_clauses_are_all_taken_and_reports_say_nothing_of_estimates():
    reports, told = [], []
    training = prepared()
    assert not training.objective.clauses.sampled
    training.run(Calling(passed=reports.append, message=told.append))
    assert not any(report.estimated for report in reports)
    assert "estimated" not in reports[0].record()


def test_many_clauses_are_sampled_and_the_user_is_told():
    many = [clause for _ in range(400) for clause in CLAUSES]
    told = []
    settings = settings_with(clauses={"sets": 10}, train={"epochs": 1, "passes": 1})
    training = prepare(GRAPH, many, settings, observer=Calling(message=told.append))
    assert training.objective.clauses.share.parts > 5
    assert any("of the 7,600 clauses, drawn at random" in text for text in told)
    everything = settings_with(clauses={"sets": 1, "per_step": "all"}, train={"epochs": 1, "passes": 1})
    assert not prepare(GRAPH, many, everything).objective.clauses.sampled


def test_the_certified_inconsistency_of_a_sample_estimates_that_of_all(monkeypatch):
    training = prepared(adversary="closed-form")
    whole = training.certify(training.predictor)["certified"]
    assert "estimated" not in whole
    monkeypatch.setattr(certified, "_MOST_CLAUSES", 9)
    some = training.certify(training.predictor)["certified"]
    assert some["estimated"]
    assert some["clauses"] in (6, 7)
    assert 0.3 * whole["inconsistency"] < some["inconsistency"] < 3 * whole["inconsistency"]
    assert training.certify(training.predictor)["certified"] == some


@pytest.mark.parametrize("value", [0, -1, "some", 1.5])
def test_impossible_numbers_are_refused(value):
    with pytest.raises(InputError, match="per_step"):
        Settings.from_mapping({"clauses": {"per_step": value}})
