"""Races: same seed same choice, within the work, after a kill as without one; clauses that hurt are not used."""

import json
from dataclasses import replace

import numpy as np
import pytest
from search_runs import company

from clausal import Graph, InputError, Settings, parse_clauses, resume, train
from clausal.logic.intervals import wilson
from clausal.observer import Calling, Observer
from clausal.search import race, resume_best, train_best
from clausal.search.best import best_settings, this_machine
from clausal.search.journal import Trial
from clausal.search.racing.clause_weight import Tried, choose_weight
from clausal.search.racing.clauses import by_confidence, weigh_for_training
from clausal.search.racing.climbing import Climber
from clausal.search.racing.judging import compare
from clausal.search.racing.ladders import share_of_linked
from clausal.search.racing.plan import Plan, make_plan
from clausal.search.racing.track import Track
from clausal.search.racing.trial import Raced, still_to_come
from clausal.search.racing.work import Size, minutes_of_work, training_work
from clausal.search.space import change

PLAN = Plan(budget=10**13, dim=8, epochs=3)
LONG = Plan(budget=10**13, dim=8, epochs=18)


def quick(graph, clauses=(), **changes):
    small = {"model.dim": 8, "train.epochs": 6, "evaluate.every": 2, "train.device": "cpu"}
    return change(best_settings(graph, clauses, "cpu"), small | changes)


def chosen(found):
    trials = [(dict(one.changes), one.value, one.epoch, one.about.get("difference")) for one in found.trials]
    return dict(found.changes), trials, found.work


@pytest.mark.parametrize("plan", [PLAN, LONG], ids=["short trials", "long trials"])
def test_the_same_seed_makes_the_same_choice(plan):
    graph = company()
    start = change(quick(graph), {"facts.regulariser_weight": 0.03})
    first, second = (race(graph, (), start, plan=plan) for _ in range(2))
    assert chosen(first) == chosen(second)
    varied = {name for trial in first.trials for name in trial.changes}
    assert "facts.regulariser_weight" in varied
    # Where train links the pairs of most valid facts, short trials cannot tell what predicting relations leads to.
    assert share_of_linked(graph) > 0.5
    assert ("facts.relation_weight" in varied) == (plan is LONG)
    # Short trials would choose what learns fast and not what ends well.
    late = {"facts.batch_size", "train.learning_rate", "facts.training", "facts.label_smoothing"}
    assert late & varied == (late if plan is LONG else set())
    assert f"{len(first.trials)} trials" in first.explanation


@pytest.mark.parametrize("trials", [1, 3, 6])
def test_no_more_work_than_planned(trials):
    graph = company()
    whole = race(graph, (), quick(graph), plan=PLAN)
    budget = sum(int(trial.about["work"]) for trial in whole.trials[:trials])
    less = race(graph, (), quick(graph), plan=replace(PLAN, budget=budget))
    assert less.work <= budget
    assert 1 <= len(less.trials) <= len(whole.trials)
    assert less.trials[0].changes == whole.trials[0].changes
    assert less.trials[0].validations.items() <= whole.trials[0].validations.items()  # it may be shorter


def test_the_budget_is_a_share_of_the_training_or_a_minute():
    graph = company()
    settings, size, machine = quick(graph), Size.of(graph), this_machine("cpu")
    assert make_plan(size, settings, machine).budget == minutes_of_work(1, machine)
    large = Size(10_000, 50, 100_000, 5_000)
    plan = make_plan(large, change(settings, {"model.dim": 512, "train.epochs": 100}), machine)
    final = training_work(large, change(settings, {"model.dim": 512, "train.epochs": 100}), 0, machine)
    assert plan.budget == int(0.4 * final)
    assert plan.dim == 256


def test_fixed_settings_are_not_raced():
    graph = company()
    fixed = ["facts.regulariser_weight", "facts.relation_weight", "train.learning_rate", "model.dim", "facts.training"]
    fixed.append("facts.label_smoothing")
    found = race(graph, (), quick(graph), fixed=fixed, plan=PLAN)
    assert {name for trial in found.trials for name in trial.changes} <= {"facts.batch_size"}
    assert found.settings.model.dim == 8


class _KilledError(Exception):
    pass


def killed_after(messages):
    heard = []

    def hear(text):
        heard.append(text)
        if len(heard) == messages:
            raise _KilledError

    return Calling(message=hear)


@pytest.mark.parametrize("messages", [1, 4])
def test_a_race_that_was_killed_ends_in_the_same_choice(tmp_path, messages):
    graph = company()
    settings = quick(graph, **{"train.epochs": 18})
    options = {"minutes": 0.05, "fixed": ["train.learning_rate", "facts.training"]}
    whole = train_best(graph, (), settings, out=tmp_path / "whole", **options)
    with pytest.raises(_KilledError):
        train_best(graph, (), settings, out=tmp_path / "cut", observer=killed_after(messages), **options)
    journal = tmp_path / "cut" / "race.jsonl"
    with journal.open("a") as file:
        file.write('{"point": {"mod')  # what a kill in the middle of a line leaves
    with pytest.raises(InputError, match="race"):
        resume(tmp_path / "cut")
    again = resume_best(tmp_path / "cut")
    assert again.settings == whole.settings
    assert again.metrics["valid"] == whole.metrics["valid"]

    def lines(name):
        read = [json.loads(line) for line in (tmp_path / name / "race.jsonl").read_text().splitlines()]
        return [{key: value for key, value in line.items() if key != "seconds"} for line in read]

    assert lines("cut") == lines("whole")
    assert again.metrics["race"]["changes"] == json.loads((tmp_path / "whole" / "race.json").read_text())["changes"]
    assert not (tmp_path / "cut" / "checkpoint").exists()


def test_without_valid_facts_some_of_train_are_held_out_for_the_race_alone(tmp_path):
    graph = company()
    graph = Graph.from_triples(
        [(graph.entities[s], graph.relations[r], graph.entities[o]) for s, r, o in np.concatenate([graph.known])]
    )
    run = train_best(graph, (), quick(graph), out=tmp_path / "run", minutes=0.02, fixed=["facts.training"])
    assert np.array_equal(run.graph.train, graph.train)
    assert not len(run.graph.valid)
    assert run.settings.evaluate.every == 0
    assert 1 <= run.settings.train.epochs <= 6
    assert "held out" in run.metrics["race"]["explanation"]


@pytest.mark.parametrize("facts", [[("a", "p", "b")], [("a", "p", "a")], [("a", "p", "b"), ("b", "q", "c")]])
def test_a_graph_with_nothing_to_spare_gets_the_rule(facts):
    graph = Graph.from_triples(facts)
    found = race(graph, (), quick(graph))
    assert not found.trials
    assert "No race" in found.explanation


def test_one_relation_and_a_self_loop_can_be_raced():
    facts = [(f"e{a}", "p", f"e{b}") for a in range(6) for b in range(6) if (a + b) % 2 == 0]
    graph = Graph.from_triples(facts[:-4], facts[-4:-2], facts[-2:])
    found = race(graph, (), quick(graph), plan=PLAN)
    assert found.settings.model.scorer == "complex"


def raced(number, ranks, weight=0.0):
    value = float(np.mean(ranks))
    trial = Trial(number, "finished", value, 1, 0.0, {"clauses.weight": weight}, validations={1: value})
    return Raced(trial, np.asarray([ranks], dtype=np.float32))


def test_clauses_that_hurt_have_no_weight_and_good_ones_the_largest():
    draw = np.random.default_rng(0)
    plain = draw.uniform(0.2, 0.6, 500)
    without = raced(1, plain)
    hurt = [Tried(0.1, raced(2, plain - 0.02)), Tried(1.0, raced(3, plain - 0.2))]
    assert choose_weight(hurt, without).weight == 0
    good = [Tried(0.1, raced(2, plain + 0.05)), Tried(1.0, raced(3, plain + 0.1))]
    assert choose_weight(good, without).weight == 1
    same = [Tried(0.1, raced(2, plain)), Tried(1.0, raced(3, plain - 0.1))]
    assert choose_weight(same, without).weight == 0.1
    assert choose_weight([], without).weight == 0


def test_mined_rules_that_train_refutes_are_left_out_and_certain_clauses_are_not():
    """Train may lack all that follows from a clause that holds for certain; a mined rule has nothing but train."""
    people = [f"p{number}" for number in range(30)]
    facts = [(one, "likes", other) for one, other in zip(people, people[1:] + people[:1], strict=True)]
    facts += [(one, "hates", people[(place + 7) % 30]) for place, one in enumerate(people)]
    graph = Graph.from_triples(facts[:50], facts[50:])
    (certain,) = weigh_for_training(parse_clauses("likes(X, Y) => hates(X, Y)"), graph)
    assert (certain.kind, certain.confidence, certain.weight) == ("certain", 0, 1)
    clauses = parse_clauses("likes(X, Y) => hates(X, Y) <0.9>")
    found = race(graph, clauses, quick(graph, clauses), plan=PLAN)
    assert found.settings.clauses.weight == 0
    (row,) = found.table
    assert row["used"] == "not at all"
    assert row["confidence"] == 0


def test_clauses_that_cost_are_tried_again_by_their_confidence(monkeypatch):
    """A certain clause that train contradicts keeps its weight at first, and has that of its confidence then."""
    graph = company()
    clauses = parse_clauses("manages(X, Y) => works_with(X, Y)\nworks_with(X, Y) => manages(X, Y)")
    monkeypatch.setattr("clausal.search.racing.climbing.costs", lambda found, leader: True)
    found = race(graph, clauses, quick(graph, clauses), plan=PLAN)
    weights = [trial.changes["clauses.weight"] for trial in found.trials if "clauses.weight" in trial.changes]
    assert len(weights) == 2
    assert weights[0] > weights[1]
    weighed = weigh_for_training(clauses, graph)
    assert [one.weight for one in weighed] == [1, 1]
    assert [one.weight for one in by_confidence(weighed)] == [round(one.confidence, 4) for one in weighed]
    hard = [replace(one, clause=replace(one.clause, hard=True)) for one in weighed]
    assert by_confidence(hard) == hard


@pytest.mark.parametrize(("plan", "after"), [(PLAN, 2), (LONG, 0)], ids=["short trials", "long trials"])
def test_short_trials_add_clauses_to_a_training_that_is_the_leaders_until_then(plan, after):
    graph = company()
    clauses = parse_clauses("manages(X, Y) => works_with(X, Y)")
    found = race(graph, clauses, quick(graph, clauses), plan=plan)
    trials = [trial for trial in found.trials if "clauses.weight" in trial.changes]
    assert trials
    for trial in trials:
        leader = found.trials[trial.about["against"] - 1]
        assert trial.changes.get("clauses.after", 0) == after
        assert [trial.validations[epoch] for epoch in range(1, after + 1)] == [
            leader.validations[epoch] for epoch in range(1, after + 1)
        ]
    assert found.settings.clauses.after == (after if found.settings.clauses.weight else 0)
    fixed = race(graph, clauses, quick(graph, clauses), plan=plan, fixed=["clauses.after"])
    assert fixed.settings.clauses.after == 0


def test_weights_of_clauses_are_bounds_of_their_confidence():
    facts = [(f"a{number}", "p", f"b{number}") for number in range(100)]
    facts += [(f"a{number}", "q", f"b{number}") for number in range(90)]
    facts += [(f"a{number}", "q", "other") for number in range(90, 100)]
    graph = Graph.from_triples(facts)
    (certain,) = weigh_for_training(parse_clauses("p(X, Y) => q(X, Y)"), graph)
    mined, weak = weigh_for_training(parse_clauses("p(X, Y) => q(X, Y)\nq(X, Y) => p(Y, X) <0.8>"), graph)
    assert (certain.kind, certain.weight) == ("certain", 1)
    low, high = wilson(90, 100, 1.96)
    assert mined.weight == pytest.approx(low, abs=1e-4)
    assert low < 0.9 < high
    assert weak.weight == (weak.confidence or 0) == 0


@pytest.mark.parametrize(("successes", "trials"), [(0, 0), (0, 5), (5, 5), (3, 10), (999, 1000)])
def test_wilson_bounds_solve_their_equation(successes, trials):
    low, high = map(float, wilson(successes, trials, 1.96))
    assert 0 <= low <= high <= 1
    for bound in {low, high} - {0.0, 1.0}:
        assert (successes / trials - bound) ** 2 == pytest.approx(1.96**2 * bound * (1 - bound) / trials, abs=1e-9)


def test_the_error_of_a_difference_is_that_of_its_mean():
    draw = np.random.default_rng(1)
    one, other = draw.uniform(size=(2, 400)).astype(np.float32)
    found = compare(one, other)
    assert found.difference == pytest.approx(float((one - other).mean()), abs=1e-6)
    assert found.error == pytest.approx(float((one - other).std()) / 20, rel=0.1)
    assert not compare(one, one).better()


def test_curves_are_continued_as_a_geometric_series():
    curve = {3: 0.5, 6: 0.7, 9: 0.8}  # half of the gain each time: 0.1 is to come
    assert still_to_come(curve, 10**6) == pytest.approx(0.1)
    assert still_to_come(curve, 12) == pytest.approx(0.05)
    assert still_to_come({3: 0.5, 6: 0.7, 9: 0.6}, 100) == 0
    assert still_to_come({3: 0.5}, 100) == 0
    assert still_to_come({3: 0.1, 6: 0.2, 9: 0.4}, 100) == 0
    assert still_to_come({}, 100) == 0
    long = {epoch: 0.9 - 0.8 / epoch for epoch in range(2, 33, 2)}  # half of the gain with every doubling
    assert still_to_come(long, 64) == pytest.approx(0.8 / 32 - 0.8 / 64)
    assert still_to_come(long, 10**9) == pytest.approx(0.8 / 32)
    assert still_to_come(long | {32: 0.1}, 64) == 0


@pytest.mark.parametrize("braking", [False, True])
def test_what_brakes_and_leads_all_the_same_wins_whatever_curves_promise(braking):
    """The leader's curve promises more; only a trial that should be slower need not promise as much."""
    graph = company()
    climber = Climber(Track(graph, quick(graph), PLAN, None, None, Observer()), change(quick(graph), {}), ())
    climber.start = change(climber.start, {"train.epochs": 60})
    leader, other = curve(1, {3: 0.2, 6: 0.4, 9: 0.5}), curve(2, {3: 0.45, 6: 0.5, 9: 0.51})
    assert climber._better(other, leader, slow=True, braking=braking) == braking


@pytest.mark.parametrize(("last", "tried"), [(0.55, [0.2]), (0.51, [0.2, 0.02])])
def test_while_a_short_trial_rises_less_of_the_regulariser_is_not_tried(last, tried):
    graph = company()
    climber = Climber(Track(graph, quick(graph), PLAN, None, None, Observer()), quick(graph), ())
    values = []
    climber.track.attempt = lambda changes, leader: values.append(changes["facts.regulariser_weight"])
    climber._value = lambda leader, name: 0.05
    leader = curve(1, {3: 0.4, 6: 0.5, 9: last})
    assert climber.climb(leader, ("facts.regulariser_weight", (0.02, 0.05, 0.2))) is leader
    assert values == tried


def curve(number, validations, length=1):
    trial = Trial(number, "finished", max(validations.values()), 9, 0.0, {}, validations=validations)
    history = np.repeat(np.array([list(validations.values())], dtype=np.float32).T, 500, axis=1)
    return Raced(trial, history, length=length)


@pytest.mark.parametrize(("end", "wins"), [(0.58, False), (0.66, True)])
def test_less_of_the_regulariser_has_to_lead_after_long_trials(end, wins):
    """After three epochs it is far ahead of a training that still rises; what counts is where both are after nine."""
    graph = company()
    climber = Climber(Track(graph, quick(graph), PLAN, None, None, Observer()), quick(graph), ())
    climber.start = change(climber.start, {"facts.regulariser_weight": 0.03, "train.epochs": 12})
    first = curve(1, {1: 0.2, 2: 0.35, 3: 0.45, 6: 0.57, 9: 0.6}, length=3)
    less = curve(2, {1: 0.4, 2: 0.5, 3: 0.55, 6: 0.57, 9: end}, length=3)
    lengths = []

    def attempt(changes, leader):
        lengths.append((changes["facts.regulariser_weight"], climber.track.length))
        return less

    climber.track.attempt = attempt
    found = climber.descend(first.until(3), first)
    assert lengths == [(0.0095, 3)]
    assert climber.track.length == 1
    assert found.trial.number == (2 if wins else 1)
    assert list(found.trial.validations) == [1, 2, 3]  # what follows is compared with short trials
    assert found.value == pytest.approx(0.55 if wins else 0.45)


@pytest.mark.parametrize(("fixed", "epochs"), [((), 6), (("facts.regulariser_weight",), 3)])
def test_the_first_trial_is_longer_where_the_regulariser_is_raced(fixed, epochs):
    graph = company()
    found = race(graph, (), quick(graph), fixed=fixed, plan=PLAN)
    assert found.trials[0].about["epochs"] == epochs
    assert ("of 6)" in found.explanation) == (epochs == 6)


def test_settings_are_raced_with_clauses_as_without():
    """The budget is spent to the end by the settings, and trials with clauses have one of their own."""
    graph, clauses = company(), parse_clauses("manages(X, Y) => works_with(X, Y)")
    whole = race(graph, (), quick(graph), plan=PLAN)
    plan = replace(PLAN, budget=whole.work)
    alone, beside = race(graph, (), quick(graph), plan=plan), race(graph, clauses, quick(graph, clauses), plan=plan)
    assert chosen(beside)[1][: len(alone.trials)] == chosen(alone)[1]
    later = beside.trials[len(alone.trials) :]
    assert 1 <= len(later) <= 2
    assert all("clauses.weight" in trial.changes for trial in later)
    assert beside.work - alone.work == sum(int(trial.about["work"]) for trial in later) <= plan.budget // 2


def test_long_trials_need_room_for_two():
    graph = company()
    track = Track(graph, quick(graph), PLAN, None, None, Observer())
    one = track._work(track._settings({}), 0)
    for units, length in ((5, 2), (4, 1)):
        track.plan, track.length = replace(PLAN, budget=units * one), 1
        track.lengthen()
        assert track.length == length


def test_auto_is_for_a_race_alone():
    graph, clauses = company(), parse_clauses("manages(X, Y) => works_with(X, Y)")
    with pytest.raises(InputError, match="preset best"):
        train(graph, clauses, Settings.from_mapping({"clauses": {"weight": "auto"}}))
    with pytest.raises(InputError, match=r"clauses\.weight: .*-1"):
        Settings.from_mapping({"clauses": {"weight": -1}})


def test_rules_vote_in_a_run_of_best_also_after_a_kill(tmp_path):
    graph = company()
    run = train_best(graph, (), quick(graph), out=tmp_path / "run", minutes=1e-6)
    ranks = run.evaluate("valid", ranking="fused").ranks
    for name in ("fusion.json", "fusion.safetensors"):
        (tmp_path / "run" / name).unlink()
    again = resume_best(tmp_path / "run")
    assert again.is_fused
    np.testing.assert_array_equal(
        again.evaluate("valid", ranking="fused").ranks.of("filtered", "both"), ranks.of("filtered", "both")
    )
    alone = train_best(graph, (), quick(graph), out=tmp_path / "alone", minutes=1e-6, votes=False)
    assert not alone.is_fused
    with pytest.raises(InputError, match="has no fusion"):
        alone.evaluate("valid", ranking="fused")
