"""A search that is killed goes on: nothing that ended is done again, and it finds what it would have found."""

import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from search_runs import company, outcomes, run_search, settings

from clausal import InputError, RunError, parse_clauses
from clausal.graph import Names
from clausal.observer import Observer
from clausal.search import Choice, load_search, resume_search, search
from clausal.search.directory import SearchDirectory
from command_line import _environment
from recording import Recorder


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Eight trials without an interruption."""
    return run_search(tmp_path_factory.mktemp("whole") / "out", trials=8)


def test_a_search_in_two_parts_is_the_same_search(whole, tmp_path):
    told = Recorder()
    run_search(tmp_path / "out", trials=3)
    resumed = resume_search(tmp_path / "out", trials=8, observer=told)
    assert [number for number, _ in told.of("trial_started")] == [4, 5, 6, 7, 8]
    assert [found.trials[-1].number for found, _ in told.of("trial_finished")] == [4, 5, 6, 7, 8]
    assert outcomes(resumed) == outcomes(whole)


def test_the_same_call_goes_on_too_and_ends_at_once_when_all_is_done(whole, tmp_path):
    run_search(tmp_path / "out", trials=6)
    assert outcomes(run_search(tmp_path / "out", trials=8)) == outcomes(whole)
    before = (tmp_path / "out" / "journal.jsonl").read_bytes()
    assert outcomes(run_search(tmp_path / "out", trials=8)) == outcomes(whole)
    assert (tmp_path / "out" / "journal.jsonl").read_bytes() == before


class Interrupt(Observer):
    """Ctrl-C in the midst of a trial."""

    def __init__(self, at):
        self.at, self.number = at, None

    def trial_started(self, number, settings):
        self.number = number

    def passed(self, report):
        if self.number == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("at", [1, 2, 5])
def test_a_trial_that_was_interrupted_is_made_again(at, whole, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_search(tmp_path / "out", trials=8, observer=Interrupt(at))
    assert len(load_search(tmp_path / "out").trials) == at - 1
    assert outcomes(resume_search(tmp_path / "out", trials=8)) == outcomes(whole)


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_trial_may_be_interrupted_as_often_as_one_likes(times, whole, tmp_path):
    for _ in range(times):
        with pytest.raises(KeyboardInterrupt):
            run_search(tmp_path / "out", trials=2, observer=Interrupt(1))
    assert outcomes(resume_search(tmp_path / "out", trials=8)) == outcomes(whole)


PROGRAM = """
import sys
sys.path[:0] = {paths!r}
import os
from clausal.observer import Observer
from search_runs import run_search
class Deadly(Observer):
    def passed(self, report):
        os._exit(9)
run_search({out!r}, trials=8, observer={observer})
"""


def killed(out):
    """Run a search whose first trial takes the process down."""
    program = PROGRAM.format(paths=sys.path, out=str(out), observer="Deadly()")
    return subprocess.run([sys.executable, "-c", program], env=_environment(), check=False).returncode


def test_a_trial_that_kills_its_process_is_made_twice_and_no_more(whole, tmp_path):
    assert killed(tmp_path / "once") == 9
    assert outcomes(resume_search(tmp_path / "once", trials=8)) == outcomes(whole)
    assert killed(tmp_path / "twice") == killed(tmp_path / "twice") == 9
    found = resume_search(tmp_path / "twice", trials=2)
    assert [trial.state for trial in found.trials] == ["failed", "finished"]
    assert "2 times" in found.trials[0].error
    assert found.trials[0].changes == whole.trials[0].changes


def test_the_journal_of_an_early_version_is_refused_with_what_is_left(tmp_path):
    run_search(tmp_path / "out", trials=1)
    (tmp_path / "out" / "journal.jsonl").rename(tmp_path / "out" / "journal.log")
    with pytest.raises(InputError, match=r"earlier version of clausal.*best\.toml"):
        resume_search(tmp_path / "out", trials=2)


def test_a_search_ended_by_kill_goes_on_where_it_was(whole, tmp_path):
    out = tmp_path / "out"
    program = PROGRAM.format(paths=sys.path, out=str(out), observer=None)
    process = subprocess.Popen([sys.executable, "-c", program], env=_environment())
    try:
        while not list(out.glob("trial-*")):  # a trial has ended, or is about to
            assert process.poll() is None
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    resumed = resume_search(out, trials=8)
    assert outcomes(resumed) == outcomes(whole)
    assert [path.name for path in out.glob("trial-*")] == [resumed.run.name]


def test_half_a_line_at_the_end_of_the_journal_is_dropped(whole, tmp_path):
    run_search(tmp_path / "out", trials=3)
    journal = tmp_path / "out" / "journal.jsonl"
    with journal.open("a", encoding="utf-8") as file:
        file.write('{"point": {"train.learn')
    assert outcomes(resume_search(tmp_path / "out", trials=8)) == outcomes(whole)


@pytest.mark.parametrize(
    "text", ["no JSON\n", "{}\n", '{"point": 4}\n', "[1]\n", '{"point": {}, "state": "finished"}\n']
)
def test_a_damaged_journal_is_one_message(text, tmp_path):
    run_search(tmp_path / "out", trials=1)
    (tmp_path / "out" / "journal.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"journal\.jsonl:1: damaged"):
        resume_search(tmp_path / "out", trials=2)


@pytest.mark.parametrize("text", ["{}", '{"space": 3}', '{"space": [{"name": "model.dim"}]}', '{"space": [[]]}', "no"])
def test_a_damaged_description_is_one_message(text, tmp_path):
    run_search(tmp_path / "out", trials=1)
    (tmp_path / "out" / "search.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"search\.json"):
        resume_search(tmp_path / "out", trials=2)


def test_a_journal_whose_best_model_is_not_there_is_refused_and_nothing_removed(tmp_path):
    run_search(tmp_path / "out", trials=1)
    (tmp_path / "out" / "trial-1").rename(tmp_path / "out" / "trial-2")
    with pytest.raises(InputError, match=r"journal\.jsonl: the best trial has no model in .*trial-1"):
        run_search(tmp_path / "out", trials=2)
    assert (tmp_path / "out" / "trial-2").is_dir()


def test_two_searches_do_not_mix(tmp_path):
    run_search(tmp_path / "out", trials=1)
    graph = company()
    renamed = Names([f"{name} of" for name in graph.relations], "relation")
    cases = [
        ("another graph", {"graph": replace(graph, train=graph.train[1:])}),
        ("another graph", {"graph": replace(graph, relations=renamed)}),
        ("other settings", {"start": settings(model__dim=16)}),
    ]
    for what, options in cases:
        with pytest.raises(InputError, match=f"begun with {what}"):
            run_search(tmp_path / "out", trials=2, **options)
    with pytest.raises(InputError, match="begun with other settings"):
        run_search(tmp_path / "out", trials=2, space=[Choice("model.dim", (2, 8))])
    with pytest.raises(InputError, match="begun with other clauses"):
        search(
            graph,
            parse_clauses("manages(X, Y) => works_with(X, Y)"),
            settings(),
            out=tmp_path / "out",
            space=SearchDirectory(tmp_path / "out").space,
        )


def test_a_second_process_is_kept_out(tmp_path):
    run_search(tmp_path / "out", trials=1)
    with SearchDirectory(tmp_path / "out").locked(), pytest.raises(RunError, match="another process"):
        resume_search(tmp_path / "out", trials=2)


def test_only_a_search_can_be_resumed_and_nothing_else_is_overwritten(tmp_path):
    with pytest.raises(InputError, match="no search was begun here"):
        resume_search(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
    (tmp_path / "mine").write_text("precious", encoding="utf-8")
    with pytest.raises(InputError, match="exists already and is no search"):
        run_search(tmp_path, trials=1)
