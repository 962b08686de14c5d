"""A scorer, an adversary and a fast form from outside the package train a model without a change inside it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import clausal
from clausal.adversary import Adversary, GroupSet, Vectors
from clausal.fast import FastForm, register, unregister
from clausal.model import Scorer
from clausal.training.step import Step

GRAPH = clausal.Graph.from_triples([(f"e{i}", "pq"[i % 2], f"e{(3 * i) % 10}") for i in range(30)])
CLAUSES = clausal.parse_clauses("p(X, Y) => q(Y, X)")


def settings(**sections):
    small = {"model": {"dim": 4}, "train": {"epochs": 3, "passes": 2, "device": "cpu"}, "evaluate": {"every": 0}}
    return clausal.Settings.from_mapping(
        {name: small.get(name, {}) | sections.get(name, {}) for name in small.keys() | sections.keys()}
    )


class Cosine(Scorer):
    """The cosine of h₁ ∘ θ_r and h₂."""

    name = "cosine"

    def score(self, subject: Tensor, relation: Tensor, object: Tensor) -> Tensor:
        return torch.nn.functional.cosine_similarity(subject * relation, object, dim=-1)


class RandomCorners(Adversary):
    """Corners of the unit cube, drawn at random."""

    def __init__(self, sets: int = 4) -> None:
        self.sets = sets
        self.found = 0

    def find(self, predictor, groups, generator=None) -> list[GroupSet]:
        self.found += 1
        found = []
        for group in groups:
            shape = len(group), self.sets, group.slots(predictor).free, predictor.scorer.dim
            found.append(Vectors(torch.randint(2, shape, generator=generator, device=predictor.device).float()))
        return found

    def inconsistency(self, predictor, groups, adversarial_set) -> Tensor:
        semantics = clausal.adversary.SEMANTICS["godel"]()
        return torch.cat(
            [
                group.violation(predictor, semantics, one.vectors).amax(1)
                for group, one in zip(groups, adversarial_set, strict=True)
            ]
        )


def test_an_own_scorer_trains_and_certifies():
    clausal.check_scorer(Cosine(4))
    run = clausal.train(GRAPH, CLAUSES, settings(), scorer=Cosine(4))
    assert len(run.predict("p(e0, ?)", k=3)) == 3
    assert len(run.certify().clauses) == 1


def test_an_own_adversary_is_asked_in_every_epoch():
    clausal.check_adversary(RandomCorners())
    adversary = RandomCorners()
    adversary.found = 0
    clausal.train(GRAPH, CLAUSES, settings(), adversary=adversary)
    checked = 2  # by check_adversary, before the training
    assert adversary.found == 3 + checked


def test_an_own_adversary_makes_the_model_obey():
    def inconsistency(weight):
        run = clausal.train(
            GRAPH,
            CLAUSES,
            settings(train={"epochs": 30, "passes": 5, "device": "cpu"}, clauses={"weight": weight}),
            adversary=RandomCorners(),
        )
        return run.certify(entities=False).clauses[0].bound

    assert inconsistency(weight=5.0) < 0.5 * inconsistency(weight=0.0)


@pytest.mark.parametrize("step", ["auto", "eager"])
def test_a_training_with_an_own_adversary_is_resumed_exactly(step, tmp_path):
    chosen = settings(train={"epochs": 4, "passes": 3, "device": "cpu", "step": step, "checkpoint_seconds": 0})
    whole = clausal.train(GRAPH, CLAUSES, chosen, adversary=RandomCorners())

    class Interrupted(Exception):  # noqa: N818
        pass

    class Stops(clausal.Observer):
        def passed(self, report):
            if (report.epoch, report.passes) == (3, 2):
                raise Interrupted

    with pytest.raises(Interrupted):
        clausal.train(GRAPH, CLAUSES, chosen, adversary=RandomCorners(), out=tmp_path / "run", observer=Stops())
    with pytest.raises(clausal.InputError, match=r"trained with its own adversary; pass it to clausal\.resume"):
        clausal.resume(tmp_path / "run")
    resumed = clausal.resume(tmp_path / "run", adversary=RandomCorners())
    for one, other in zip(whole.predictor.parameters(), resumed.predictor.parameters(), strict=True):
        assert torch.equal(one, other)
    clausal.load(tmp_path / "run")  # a finished run needs no adversary


def test_an_own_fast_form_takes_the_place_of_its_reference():
    class Counted(Step):
        steps = 0

        def __call__(self, facts, generator):
            Counted.steps += 1
            return super().__call__(facts, generator)

    form = FastForm("counted steps", "clausal.training.step:Step", Counted, lambda objective, optimizer: None)
    messages = []

    class Messages(clausal.Observer):
        def message(self, text):
            messages.append(text)

    register(form)
    try:
        clausal.train(GRAPH, CLAUSES, settings(facts={"batches": 5}), observer=Messages())
        assert Counted.steps == 3 * 2 * 5
        assert any("counted steps" in message for message in messages)
        clausal.train(GRAPH, CLAUSES, settings(train={"epochs": 1, "step": "eager", "device": "cpu"}))
        assert Counted.steps == 3 * 2 * 5  # which eager does not take
    finally:
        unregister(form)
