"""The store: facts go in and come out as they were, and a memory limit is kept by spilling to disk."""

import os
import signal
from pathlib import Path
from threading import Timer

import numpy as np
import pytest

from clausal.errors import InputError, RunError
from clausal.graph.facts import no_facts
from clausal.logic.store import fetch_facts, load_facts, memory_bytes, open_store, readable_errors


@pytest.fixture
def facts():
    return np.random.default_rng(0).integers(1000, size=(5000, 3), dtype=np.int32)


def test_facts_come_back_as_they_went_in(facts):
    with open_store() as store:
        load_facts(store, facts, "stored")
        back = fetch_facts(store, "SELECT object, relation, subject FROM stored ORDER BY rowid")
        columns = store.execute("DESCRIBE stored").fetchall()
    assert back.dtype == np.int32
    assert np.array_equal(back, facts)
    assert [column[:2] for column in columns] == [
        ("subject", "INTEGER"),
        ("relation", "INTEGER"),
        ("object", "INTEGER"),
    ]


def test_no_facts_are_an_empty_table():
    with open_store() as store:
        load_facts(store, no_facts())
        assert fetch_facts(store, "SELECT * FROM fact").shape == (0, 3)


def test_loading_again_replaces(facts):
    with open_store(threads=1) as store:
        load_facts(store, facts)
        load_facts(store, facts[:7])
        assert len(fetch_facts(store, "SELECT * FROM fact")) == 7


def test_beyond_its_limit_it_spills_to_disk_and_leaves_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    with open_store("30MB") as store:
        store.execute("CREATE TABLE big AS SELECT range AS n, hash(range) AS h FROM range(4_000_000)")
        assert store.execute("SELECT count(DISTINCT h) FROM big").fetchone() == (4_000_000,)
        assert [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not list(Path(tmp_path).iterdir())


def test_many_rows_go_in_and_out_some_at_a_time(facts, monkeypatch):
    monkeypatch.setattr("clausal.logic.store._AT_ONCE", 777)
    with open_store("30MB") as store:
        load_facts(store, facts, "stored")
        assert np.array_equal(fetch_facts(store, "SELECT * FROM stored ORDER BY rowid"), facts)


def test_a_limit_without_a_place_on_disk_is_said(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "file"))
    with pytest.raises(RunError, match=r"no folder for facts beyond the memory limit .* TMPDIR"), open_store("30MB"):
        pass


def test_ctrl_c_interrupts_a_query():
    with open_store(threads=1) as store:
        Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt), readable_errors("an endless sum"):
            store.execute("SELECT sum(hash(range)) FROM range(1_000_000_000_000)").fetchall()


@pytest.mark.parametrize(
    ("text", "amount"), [("500MB", 500 * 10**6), ("2gb", 2 * 10**9), ("1.5 GiB", 3 * 2**29), ("64KB", 64_000)]
)
def test_amounts_of_memory(text, amount):
    assert memory_bytes(text) == amount


@pytest.mark.parametrize("text", ["", "much", "2", "GB", "-1GB", "0GB", "2 XB", "1e3MB"])
def test_what_is_no_amount_of_memory_is_refused(text):
    with pytest.raises(InputError, match="no amount of memory; expected"), open_store(text):
        pass


@pytest.mark.parametrize("text", ["99999999999TB", "2000000TB", "9" * 400 + "GB"])
def test_more_memory_than_there_can_be_is_refused(text):
    with pytest.raises(InputError, match="expected at most 1000000TB"), open_store(text):
        pass


def test_a_small_limit_takes_fewer_threads_unless_they_are_asked_for():
    def threads(*options):
        with open_store(*options) as store:
            return store.execute("SELECT current_setting('threads')").fetchone()[0]

    assert threads("100MB") == 1
    assert threads("100MB", 2) == 2
    assert threads("1TB") == os.cpu_count()
