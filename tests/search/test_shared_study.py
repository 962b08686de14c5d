"""Many workers, one study, on a real PostgreSQL: no trial twice, lost ones taken up again, nothing secret said."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from search_runs import company, run_search, settings

from clausal.errors import InputError, RunError
from clausal.observer import Observer
from clausal.search import load_search, resume_search, storage, study
from command_line import _environment
from postgres_server import PostgresServer
from recording import Recorder

pytest.importorskip("optuna", reason="optuna is not installed: pip install 'clausal[search]'")
SECRET = "hunter2-Secret"

WORKER = """
import sys, time
sys.path[:0] = {paths!r}
from clausal.observer import Observer
from clausal.search import storage
from search_runs import run_search
storage.BEAT = 1
class Slow(Observer):
    def trial_started(self, number, settings):
        print(number, flush=True)
    def passed(self, report):
        time.sleep({pause})
    def message(self, text):
        print(text, flush=True)
run_search({out!r}, trials={trials}, storage={address!r}, study={study!r}, observer=Slow())
"""


@pytest.fixture(scope="module")
def server():
    with PostgresServer.started(SECRET) as running:
        yield running


@pytest.fixture(autouse=True)
def password(monkeypatch):
    monkeypatch.setenv("PGPASSWORD", SECRET)


def worker(out, address, study, trials, pause=0.0):
    """Start a worker in a process of its own."""
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    program = WORKER.format(paths=paths, out=str(out), address=address, study=study, trials=trials, pause=pause)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen([sys.executable, "-c", program], env=_environment(), **pipes)


def lines(out):
    path = out / "journal.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_workers_share_the_trials_and_agree_on_the_best(server, tmp_path):
    other = worker(tmp_path / "a", server.address_alone, "together", 4)
    assert other.stdout.readline() == "1\n"  # so that both are at work
    run_search(tmp_path / "b", trials=4, storage=server.address_alone, study="together")
    said = other.communicate(timeout=120)[0]
    assert other.returncode == 0, said
    own = [[line["trial"] for line in lines(tmp_path / name)] for name in "ab"]
    assert len(own[0] + own[1]) == 4
    found = run_search(tmp_path / "c", trials=4, storage=server.address_alone, study="together")
    assert sorted(own[0] + own[1]) == [trial.number for trial in found.trials]
    assert found.run is None
    where = found.best.about["worker"].partition(":")[2]
    assert Path(where, f"trial-{found.best.number}").is_dir()
    assert len(list(tmp_path.glob("*/trial-*"))) == 1
    for name in "ab":
        assert (tmp_path / name / "best.toml").read_text() == (tmp_path / "c" / "best.toml").read_text()
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


def test_the_trial_of_a_killed_worker_is_taken_up_again(server, tmp_path, monkeypatch):
    lost = worker(tmp_path / "lost", server.address_alone, "killed", 1, 30)
    assert lost.stdout.readline() == "1\n"  # and the trial goes on for minutes
    lost.send_signal(signal.SIGKILL)
    lost.communicate()
    monkeypatch.setattr(storage, "BEAT", 1)
    monkeypatch.setattr(storage, "SILENT", 4)
    (trial,) = run_search(tmp_path / "other", trials=1, storage=server.address_alone, study="killed").trials
    start = {"train.learning_rate": settings().train.learning_rate, "model.dim": settings().model.dim}
    assert (trial.state, dict(trial.changes)) == ("finished", start)


def test_the_trial_of_a_worker_that_never_gave_a_sign_of_life_is_taken_up_again(tmp_path, monkeypatch):
    """One that is killed between asking for a trial and its first sign of life."""
    monkeypatch.setattr(storage, "BEAT", 1)
    monkeypatch.setattr(storage, "SILENT", 2)
    options = {"storage": f"sqlite:{tmp_path / 'study.db'}", "study": "early"}

    def killed(*_):
        raise InputError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(study.SharedStudy, "_beat", killed)
        with pytest.raises(InputError, match="killed"):
            run_search(tmp_path / "lost", trials=1, **options)
    told = Recorder()
    (trial,) = run_search(tmp_path / "other", trials=1, observer=told, **options).trials
    assert ("waiting for 1 trial of other workers",) in told.of("message")
    assert trial.state == "finished"


def test_a_worker_that_is_killed_while_another_waits_is_noticed_too(tmp_path, monkeypatch):
    """The trial of a first lost worker is taken up by a second one, which is lost before its first sign of life."""
    monkeypatch.setattr(storage, "BEAT", 1)
    monkeypatch.setattr(storage, "SILENT", 2)
    options = {"storage": f"sqlite:{tmp_path / 'study.db'}", "study": "late"}

    def killed(*_):
        raise InputError("killed")

    class Unlucky(Recorder):
        def message(self, text):
            super().message(text)
            if text.startswith("waiting"):
                with monkeypatch.context() as patch:
                    patch.setattr(study.SharedStudy, "_beat", killed)
                    with pytest.raises(InputError, match="killed"):
                        run_search(tmp_path / "second", trials=2, **options)

    with monkeypatch.context() as patch:
        patch.setattr(study.SharedStudy, "_beat", killed)
        with pytest.raises(InputError, match="killed"):
            run_search(tmp_path / "lost", trials=1, **options)
    found = run_search(tmp_path / "other", trials=1, observer=Unlucky(), **options)
    assert {trial.state for trial in found.trials} <= {"finished", "failed"}


def test_a_table_that_somebody_holds_ends_the_search_with_a_message(server, tmp_path, monkeypatch):
    import psycopg

    options = {"storage": server.address, "study": "held", "trials": 1}
    run_search(tmp_path / "before", **options)
    monkeypatch.setattr(storage, "PATIENCE", 1.0)
    with psycopg.connect(server.address) as connection:
        connection.execute("LOCK TABLE studies IN ACCESS EXCLUSIVE MODE")
        with pytest.raises((InputError, RunError), match="statement timeout") as caught:
            run_search(tmp_path / "out", **options)
        connection.rollback()
    assert SECRET not in str(caught.value)


def test_a_worker_that_was_silent_for_too_long_has_lost_its_trial(tmp_path, monkeypatch):
    """Another worker believes that it is gone, and does its trial; the first one goes on with others."""
    monkeypatch.setattr(storage, "BEAT", 1000)
    monkeypatch.setattr(storage, "SILENT", 1)
    options = {"storage": f"sqlite:{tmp_path / 'study.db'}"}

    class Overtaken(Recorder):
        def passed(self, report):
            if report.epoch == 1 and not (tmp_path / "b").exists():
                time.sleep(2.5)
                run_search(tmp_path / "b", trials=1, **options)

    told = Overtaken()
    found = run_search(tmp_path / "a", trials=2, observer=told, **options)
    assert ("trial 1 was taken up by another worker, as this one was silent too long",) in told.of("message")
    assert [trial.about["worker"].rpartition("/")[2] for trial in found.trials] == ["b", "a"]


class Meanwhile(Observer):
    """Does something in the midst of the first trial."""

    def __init__(self, act):
        self.act = act

    def passed(self, report):
        act, self.act = self.act, None
        if act is not None:
            act()


def test_a_server_that_comes_back_is_waited_for(server, tmp_path):
    def restart():
        server.stop()
        server.start()

    options = {"storage": server.address, "study": "restarted"}
    found = run_search(tmp_path / "out", trials=2, observer=Meanwhile(restart), **options)
    assert [trial.state for trial in found.trials] == ["finished"] * 2


def test_a_server_that_stays_away_ends_the_search_and_loses_nothing(server, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "PATIENCE", 1.0)
    options = {"storage": server.address, "study": "away", "trials": 2}
    try:
        with pytest.raises(RunError, match="the connection was lost, and was not back within 1 s") as caught:
            run_search(tmp_path / "out", observer=Meanwhile(server.stop), **options)
    finally:
        server.start()
    assert SECRET not in str(caught.value)
    (before,) = lines(tmp_path / "out")
    monkeypatch.setattr(storage, "PATIENCE", 60.0)
    found = resume_search(tmp_path / "out", trials=2, storage=server.address)
    assert before["valid"] in [trial.value for trial in found.trials]
    assert len(found.trials) == 2


def test_sqlite_is_enough_for_one_machine(tmp_path):
    options = {"storage": f"sqlite:{tmp_path / 'study.db'}", "trials": 3}
    found = run_search(tmp_path / "a", **options)
    assert found.run is not None
    assert run_search(tmp_path / "b", **options).best == found.best
    assert [trial.number for trial in load_search(tmp_path / "a").trials] == [1, 2, 3]
    assert load_search(tmp_path / "a").run == found.run
    with pytest.raises(InputError, match="was begun with other settings; all workers of a study search the same"):
        run_search(tmp_path / "c", start=settings(train__seed=7), **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study.clausal, "__version__", "9.9")
        with pytest.raises(InputError, match=r"another version of clausal \(.* there, 9.9 here\)"):
            run_search(tmp_path / "d", **options)
    with pytest.raises(InputError, match="is a worker's folder of a study in sqlite:"):
        resume_search(tmp_path / "a", trials=4)
    with pytest.raises(InputError, match="is a worker's folder of the study 'company'"):
        run_search(tmp_path / "a", trials=4)
    run_search(tmp_path / "alone", trials=1)
    with pytest.raises(InputError, match="was begun without --storage"):
        run_search(tmp_path / "alone", **options)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (f"mysql://me:{SECRET}@localhost/db", "a study is kept in postgresql"),
        ("sqlite:nowhere/study.db", "the folder nowhere does not exist"),
        (f"postgresql://me:{SECRET}@127.0.0.1:1/db", "refused"),
    ],
)
def test_storages_that_cannot_be_are_refused_at_once(address, message, tmp_path):
    started = time.monotonic()
    with pytest.raises(InputError, match=message) as caught:
        run_search(tmp_path / "out", company(), trials=1, storage=address)
    assert SECRET not in str(caught.value)
    assert time.monotonic() - started < 15
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_database_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "_PAUSE", 0.0)
    (tmp_path / "study.db").write_text("hello " * 1000)
    with pytest.raises(InputError, match="file is not a database"):
        run_search(tmp_path / "out", trials=1, storage=f"sqlite:{tmp_path / 'study.db'}")
