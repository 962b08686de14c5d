"""What is written file by file survives a kill and a power cut at every step."""

import errno
import os

import pytest

from clausal.cli.progress import Bars
from clausal.errors import RunError, is_out_of_memory
from clausal.files import atomic_folder, copy_file, explained_os_errors, make_folder, write_bytes, write_text
from clausal.run.directory import RunDirectory
from clausal.search.journal import FINISHED, Journal, Trial
from command_line import clausal
from faults.power_cut import Disk
from faults.watching import Process, why_not, write_half

REASON = why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

OLD, NEW = b"old content\n", b"new content, which is longer\n"


def steps_of(root, tmp_path, action):
    """Do it once to its end; return how many steps that took."""
    numbers = [0]
    process = Process(lambda: action() or 0, tmp_path / "log", "changes")
    code = process.watch(root, lambda step: numbers.append(step.number) or 0)
    assert code == 0, (tmp_path / "log").read_text()
    return numbers[-1]


def faulty(root, tmp_path, action, number, *, power=None):
    """Do it up to a step, at which it is killed, or the power goes: "names" keeps the names of files."""
    disk = Disk(root)
    process = Process(lambda: action() or 0, tmp_path / "log", "changes")

    def decide(step):
        if step.number == number:
            if power is None:
                write_half(step)
            process.kill()
        elif step.number < number:
            disk.follow(step)
        return 0

    process.watch(root, decide)
    if power is None:
        disk.close()
    else:
        disk.cut(names=power == "names")


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("power", [None, "names", "all"])
def test_a_file_is_replaced_whole_or_not_at_all(power, root, tmp_path):
    path = root / "file"
    path.write_bytes(OLD)
    steps = steps_of(root, tmp_path, lambda: write_bytes(path, NEW))
    assert steps >= 6
    assert path.read_bytes() == NEW
    for number in range(1, steps + 2):
        path.write_bytes(OLD)
        faulty(root, tmp_path, lambda: write_bytes(path, NEW), number, power=power)
        assert path.read_bytes() in (OLD, NEW)
    assert path.read_bytes() == NEW  # after the end it is there for good


@pytest.mark.parametrize("power", [None, "names", "all"])
def test_what_is_written_in_place_would_be_caught(power, root, tmp_path):
    path = root / "file"
    path.write_bytes(OLD)
    steps = steps_of(root, tmp_path, lambda: path.write_bytes(NEW) and None)
    found = set()
    for number in range(1, steps + 2):
        path.write_bytes(OLD)
        faulty(root, tmp_path, lambda: path.write_bytes(NEW) and None, number, power=power)
        found.add(path.read_bytes())
    assert found - {OLD, NEW} or NEW not in found  # half of it, or nothing that lasts


def trial(number):
    return Trial(number, FINISHED, 0.5, 1, 1.0, {"model.dim": number})


@pytest.mark.parametrize("power", [None, "names", "all"])
def test_a_journal_never_loses_a_trial_that_ended(power, root, tmp_path):
    """Half a line, which an earlier kill has left, is cut off in place."""
    path = root / "searches" / "journal.jsonl"

    def start():
        path.unlink(missing_ok=True)
        Journal(path).append(trial(1))
        path.write_bytes(path.read_bytes() + b'{"point": {"mod')

    start()
    steps = steps_of(root, tmp_path, lambda: Journal(path).append(trial(2)))
    for number in range(1, steps + 2):
        start()
        faulty(root, tmp_path, lambda: Journal(path).append(trial(2)), number, power=power)
        assert Journal(path).read() in ([trial(1)], [trial(1), trial(2)])
    assert Journal(path).read() == [trial(1), trial(2)]


def test_two_processes_do_not_make_the_same_trials(root):
    journal = Journal(root / "a" / "journal.jsonl")
    with journal.locked():
        with (
            pytest.raises(RunError, match="another process is adding to this journal"),
            journal.locked(),
        ):
            pass
        journal.append(trial(1))
    assert journal.read() == [trial(1)]


def test_a_new_journal_lasts(root, tmp_path):
    path = root / "a" / "b" / "journal.jsonl"
    steps = steps_of(root, tmp_path, lambda: None)
    faulty(root, tmp_path, lambda: Journal(path).append(trial(1)), steps + 100, power="all")
    assert Journal(path).read() == [trial(1)]


def test_new_folders_last_with_those_above_them(root, tmp_path):
    def make():
        make_folder(root / "a" / "b")
        with atomic_folder(root / "c" / "d" / "e") as folder:
            write_text(folder / "file", "text")
            copy_file(root / "old", folder / "copy")

    (root / "old").write_bytes(OLD)
    faulty(root, tmp_path, make, 1000, power="all")
    assert (root / "a" / "b").is_dir()
    assert (root / "c" / "d" / "e" / "file").read_text() == "text"
    assert (root / "c" / "d" / "e" / "copy").read_bytes() == OLD


def test_the_log_is_on_the_disk_before_the_checkpoint(root, unfinished, tmp_path):
    run = RunDirectory(unfinished.rename(root / "run"))
    state = run.load_checkpoint()
    before = run.read_log()

    def go_on():
        run.append_log({"epoch": 2, "seconds": 1.0})
        run.save_checkpoint(*state)

    faulty(root, tmp_path, go_on, 1000, power="names")
    assert run.read_log() == [*before, {"epoch": 2, "seconds": 1.0}]


def test_what_a_kill_at_the_very_end_leaves_is_swept_up(copied):
    (copied / "checkpoint").mkdir()
    (copied / "checkpoint" / "state.safetensors").write_bytes(b"left")
    assert clausal("train", "--resume", "--out", copied).code == 0
    assert not (copied / "checkpoint").exists()


def test_errors_of_native_libraries_are_said_in_the_words_of_the_system(tmp_path):
    class SafetensorError(Exception):
        pass

    with (
        pytest.raises(Exception, match=r"state: cannot be written: Input/output error$"),
        explained_os_errors(tmp_path / "state"),
    ):
        raise SafetensorError(f"Error while serializing: I/O error: … (os error {errno.EIO})")


def test_no_thread_for_progress_is_no_error(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("_thread.start_new_thread", refuse)
    with Bars() as bars:
        bars.message("still said")


def test_a_call_without_memory_for_its_frame_is_a_lack_of_memory():
    assert is_out_of_memory(SystemError("error return without exception set"))


def test_a_watched_process_sees_the_error_that_is_made_up(root, tmp_path):
    def action():
        with pytest.raises(OSError, match="No space left") as refused:
            os.mkdir(root / "folder")  # noqa: PTH102
        return 0 if refused.value.errno == errno.ENOSPC else 1

    process = Process(action, tmp_path / "log", "changes")
    assert process.watch(root, lambda step: errno.ENOSPC) == 0, (tmp_path / "log").read_text()
    assert not (root / "folder").exists()
