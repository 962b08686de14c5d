"""The fuzzer itself finds what fails, shrinks it, and survives what dies."""

import json
import signal

import pytest
from hypothesis import strategies as st

from clausal import InputError
from counts import Counts, Turn
from fuzzing import __main__ as long_run
from fuzzing.batches import fuzz
from fuzzing.cases import Case
from fuzzing.limits import Failure, check
from fuzzing.targets import Target

TEXTS = st.text("ab", max_size=9).map(lambda text: Case({"file": text.encode()}))


def fails_on(letter):
    def run(case, folder):
        if letter in case.files["file"]:
            raise KeyError(letter)

    return Target(TEXTS, run, slice=1)


def test_a_failure_is_found_once_as_its_smallest_case():
    known = set()
    found = [one for _, one in fuzz(fails_on(b"b"), 0, 2, lambda case: None, known) if one is not None]
    assert [one.case.files["file"] for one in found] == [b"b"]
    assert found[0].error.startswith("KeyError")
    assert known == {found[0].place}


def raising(error):
    def run(case, folder):
        raise error

    return Target(TEXTS, run, slice=1)


def test_an_explained_error_is_fine_and_any_other_is_not(tmp_path):
    check(raising(InputError("say what to do")), Case())
    with pytest.raises(Failure, match="without a message"):
        check(raising(InputError("")), Case())
    with pytest.raises(ZeroDivisionError):
        check(raising(ZeroDivisionError()), Case())


def test_memory_and_time_of_a_case_are_bounded(monkeypatch):
    monkeypatch.setattr("fuzzing.limits.MEMORY", 20_000_000)
    monkeypatch.setattr("fuzzing.limits.SECONDS", 0.2)

    def fill(case, folder):
        bytearray(b"x") * 50_000_000

    def spin(case, folder):
        while True:
            pass

    with pytest.raises(Failure, match="MB of memory"):
        check(Target(TEXTS, fill, slice=1), Case())
    with pytest.raises(Failure, match="of the CPU"):
        check(Target(TEXTS, spin, slice=1), Case())


def test_a_case_reads_back(tmp_path):
    case = Case({"a/b.bin": b"\xff\x00", "text": "é\n".encode(), "long": b"ab" * 5000, "gone": None}, {"k": [1, None]})
    assert Case.from_json(case.to_json()) == case
    assert len(case.to_json()) < 1000
    case.write(tmp_path)
    assert (tmp_path / "a" / "b.bin").read_bytes() == b"\xff\x00"
    assert not (tmp_path / "gone").exists()


def test_a_process_that_dies_is_a_failure_with_its_case(monkeypatch, tmp_path):
    monkeypatch.setattr(long_run, "ROOT", tmp_path)
    monkeypatch.setattr(long_run, "FAILED", tmp_path / "failed")
    code = "import json, os, pathlib, sys; order = json.loads(sys.argv[1])\n"
    code += "pathlib.Path(order['journal']).write_text(json.dumps({'files': {'f': 'x'}, 'options': {}}))\n"
    code += f"print(json.dumps({{'tried': 3}}), flush=True); os.kill(os.getpid(), {int(signal.SIGSEGV)})"
    monkeypatch.setattr(long_run, "CHILD", ["-c", code])
    turn = long_run.take_turn("tables", 0, 1, set())
    assert (turn.cases, len(turn.failures)) == (3, 1)
    assert "signal 11" in turn.failures[0]
    (kept,) = (tmp_path / "failed").iterdir()
    assert Case.from_json(kept.read_text()).files == {"f": b"x"}
    for one in (turn, Turn(5, 60.0)):
        Counts("fuzz", "what", tmp_path).add("tables", one)
    written = json.loads((tmp_path / "fuzz.json").read_text())
    assert written["targets"]["tables"] | {"minutes": 0} == {"cases": 8, "minutes": 0, "failures": 1}
    assert written["minutes_since_failure"] == 1.0
