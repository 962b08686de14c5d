"""Observers: what they are told, several at once, and the callbacks of version 0.1 in their place."""

import inspect
import logging

import pytest

import clausal
from clausal.graph import Graph
from clausal.logic import close, measure_clauses, mine, parse_clauses
from clausal.observer import EVENTS, Observer, Observers, replaces
from recording import Recorder

SMALL = clausal.Settings.from_mapping(
    {"model": {"dim": 4}, "train": {"epochs": 2, "passes": 3}, "evaluate": {"every": 1}}
)
CLAUSES = parse_clauses("r(X, Y) => s(Y, X)")
TRIPLES = [(f"e{place}", "rs"[place % 2], f"e{(place + 1) % 7}") for place in range(14)]


def graph():
    return Graph.from_triples(TRIPLES).split(valid=0.2, test=0.2)


def test_a_training_tells_its_settings_each_pass_each_epoch_and_its_metrics():
    seen = Recorder()
    run = clausal.train(graph(), CLAUSES, SMALL, observer=seen)
    told = [name for name, _ in seen.events if name != "message"]
    epoch = ["passed"] * 3 + ["epoch"]
    assert told == ["training_started", *epoch, *epoch, "training_finished"]
    assert seen.of("training_started") == [(SMALL, 1)]
    assert [(report.epoch, report.passes) for (report,) in seen.of("passed")] == [
        (e, p) for e in (1, 2) for p in (1, 2, 3)
    ]
    assert [record["epoch"] for (record,) in seen.of("epoch")] == [1, 2]
    assert seen.of("training_finished") == [(run.metrics,)]


def test_a_training_without_its_clauses_obeys_none():
    seen = Recorder()
    changed = clausal.Settings.from_mapping(SMALL.model_dump() | {"clauses": {"adversary": "none"}})
    clausal.train(graph(), CLAUSES, changed, observer=seen)
    assert seen.of("training_started") == [(changed, 0)]


def test_what_an_observer_is_told_of_a_run_in_a_directory_is_the_log(tmp_path):
    seen = Recorder()
    clausal.train(graph(), CLAUSES, SMALL, out=tmp_path / "run", observer=seen)
    assert len((tmp_path / "run" / "log.jsonl").read_text().splitlines()) == len(seen.of("epoch"))
    again = Recorder()
    clausal.resume(tmp_path / "run", observer=again)  # finished: nothing happens
    assert again.events == []


def test_evaluating_and_certifying_tell_how_far_they_are():
    run = clausal.train(graph(), CLAUSES, SMALL)
    seen = Recorder()
    run.evaluate(observer=seen)
    run.certify(observer=seen)
    last = {what: (done, total) for what, done, total, _ in seen.of("advanced")}
    assert set(last) == {"ranking", "bounding", "certifying"}
    assert all(done == total > 0 for done, total in last.values())


def test_closing_measuring_and_mining_tell_how_far_they_are():
    seen = Recorder()
    closure = close(graph(), CLAUSES, observer=seen)
    given = len(closure.facts) - len(closure.derived)
    assert [(number, new, total) for number, new, total, _ in seen.of("derived")] == [
        (1, len(closure.derived), given + len(closure.derived))
    ]
    measure_clauses(CLAUSES, graph(), observer=seen)
    mine(graph(), min_support=1, observer=seen)
    assert {what for what, *_ in seen.of("advanced")} == {"counting", "paths of 2"}


def test_messages_go_to_the_log_unless_an_observer_takes_them(caplog):
    with caplog.at_level(logging.INFO, logger="clausal"):
        Observer().message("by default")
        Recorder().message("taken")
    assert caplog.messages == ["by default"]


def test_several_observers_are_told_in_their_order():
    order = []

    class Named(Observer):
        def __init__(self, name):
            self.name = name

        def derived(self, round, new, total, seconds):
            order.append((self.name, round, new, total, seconds))

    Observers(Named("one"), Named("other")).derived(1, 2, 3, 0.5)
    assert order == [("one", 1, 2, 3, 0.5), ("other", 1, 2, 3, 0.5)]


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_reaches_every_observer(event):
    one, other = Recorder(), Recorder()
    arguments = tuple(range(len(inspect.signature(getattr(Observer, event)).parameters) - 1))
    getattr(Observers(one, other), event)(*arguments)
    assert one.events == other.events == [(event, arguments)]


def test_an_observer_that_raises_ends_the_work():
    class Enough(Observer):
        def passed(self, report):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clausal.train(graph(), CLAUSES, SMALL, observer=Enough())


def test_callbacks_of_version_0_1_work_and_warn():
    passes, epochs, told = [], [], []
    with pytest.warns(DeprecationWarning, match="is deprecated") as warned:
        clausal.train(graph(), CLAUSES, SMALL, on_pass=passes.append, on_epoch=epochs.append, tell=told.append)
    assert (len(passes), len(epochs)) == (6, 2)
    texts = [str(one.message) for one in warned]
    assert sorted(text.partition("=")[0] for text in texts) == ["on_epoch", "on_pass", "tell"]
    assert all("clausal.Observer" in text for text in texts)
    assert {one.filename for one in warned} == {__file__}


def test_the_progress_of_version_0_1_is_given_what_it_was():
    run = clausal.train(graph(), CLAUSES, SMALL)
    ranked, certified, rounds, counted, mined = [], [], [], [], []
    with pytest.warns(DeprecationWarning, match="progress="):
        run.evaluate(progress=lambda done, total: ranked.append((done, total)))
    with pytest.warns(DeprecationWarning, match="progress="):
        run.certify(progress=lambda done, total: certified.append((done, total)))
    with pytest.warns(DeprecationWarning, match="progress="):
        closure = close(graph(), CLAUSES, progress=rounds.append)
    with pytest.warns(DeprecationWarning, match="progress="):
        measure_clauses(CLAUSES, graph(), progress=lambda done, total: counted.append((done, total)))
    with pytest.warns(DeprecationWarning, match="progress="):
        mine(graph(), min_support=1, progress=lambda what, done, total: mined.append((what, done, total)))
    assert ranked[-1] == (2 * len(graph().test),) * 2
    assert certified[-1][0] == certified[-1][1] > 0
    assert tuple(rounds) == closure.rounds
    assert counted == [(1, 1)]
    assert {what for what, _, _ in mined} == {"paths of 2"}


def test_a_callback_takes_its_event_and_leaves_the_others_to_the_observer():
    @replaces(on_pass=("passed", lambda report: (report,)))
    def work(*, observer=None):
        observer.passed("a report")
        observer.message("a message")

    seen, passes = Recorder(), []
    with pytest.warns(DeprecationWarning, match="on_pass="):
        work(observer=seen, on_pass=passes.append)
    assert (passes, seen.events) == (["a report"], [("message", ("a message",))])


def test_an_unknown_keyword_is_still_an_error():
    with pytest.raises(TypeError, match="on_batch"):
        clausal.train(graph(), CLAUSES, SMALL, on_batch=print)
