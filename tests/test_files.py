"""Files are written whole or not at all, by any number of threads, and are on the disk when the writing returns."""

import errno
import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from clausal.errors import InputError, RunError
from clausal.files import (
    atomic_file,
    atomic_folder,
    explained_os_errors,
    locked_file,
    read_json,
    read_text,
    write_bytes,
    write_json,
    write_text,
)


@pytest.fixture
def odd_files(tmp_path):
    """A folder with a pipe, a socket, a folder and a link to a device: whoever replaces the link harms no machine."""
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "socket"))
    (tmp_path / "null").symlink_to(os.devnull)
    (tmp_path / "sub").mkdir()
    return tmp_path


def test_what_is_written_is_read_back(tmp_path):
    write_text(tmp_path / "text", "Köln\r\nüber\n")
    write_json(tmp_path / "json", {"name": "Köln"})
    write_bytes(tmp_path / "bytes", b"\x00\xff")
    assert (tmp_path / "text").read_bytes() == "Köln\r\nüber\n".encode()
    assert read_text(tmp_path / "text") == "Köln\r\nüber\n"
    assert read_json(tmp_path / "json") == {"name": "Köln"}
    assert (tmp_path / "json").read_text(encoding="utf-8") == '{\n  "name": "Köln"\n}\n'
    assert (tmp_path / "bytes").read_bytes() == b"\x00\xff"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bytes", "json", "text"]


def test_a_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "usual").touch()
    with atomic_file(tmp_path / "file") as temporary:
        temporary.write_text("x")
        temporary.chmod(0o600)  # as some writers do
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError("bad"), OSError(errno.EIO, "broken")])
def test_a_failure_leaves_the_old_file_alone(tmp_path, error):
    (tmp_path / "file").write_text("old")

    def write_half():
        with atomic_file(tmp_path / "file") as temporary:
            temporary.write_text("half of the n")
            raise error

    with pytest.raises((KeyboardInterrupt, ValueError, RunError)):
        write_half()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "old"


def test_a_failure_leaves_no_folder(tmp_path):
    def write_half():
        with atomic_folder(tmp_path / "folder") as temporary:
            (temporary / "a").write_text("a")
            raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        write_half()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "word"), [("pipe", "pipe"), ("socket", "socket"), ("null", "device"), ("sub", "folder")]
)
def test_what_is_no_file_is_neither_written_nor_read(kind, word, odd_files):
    path, before = odd_files / kind, (odd_files / kind).lstat()
    with pytest.raises(InputError, match=rf"/{kind}: a {word}; expected the name of a file"):
        write_text(path, "x")
    with pytest.raises(InputError, match=rf"/{kind}: a {word}; expected a file"):
        read_text(path)
    assert path.lstat() == before
    assert sorted(entry.name for entry in odd_files.iterdir()) == ["null", "pipe", "socket", "sub"]


def test_a_link_is_followed_to_the_file_that_it_names(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_text() == "new"


@pytest.mark.parametrize("name", ["pipe", "null", "sub", "socket"])
def test_a_folder_takes_the_place_of_nothing(name, odd_files):
    before = (odd_files / name).lstat()
    with pytest.raises(InputError, match="exists already"), atomic_folder(odd_files / name):
        pass
    assert (odd_files / name).lstat() == before


@pytest.mark.parametrize("name", ["nope/..", "nope/further/.."])
def test_a_refused_folder_leaves_none_of_those_above_it(name, tmp_path):
    with pytest.raises(InputError, match="not the name of a new folder"), atomic_folder(tmp_path / name):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_no_folder_above_the_one_that_failed(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(ValueError, match="bad"), atomic_folder(tmp_path / "a" / "b" / "c" / "d"):
        raise ValueError("bad")
    assert [path.name for path in tmp_path.rglob("*")] == ["a"]


def test_a_path_with_a_nul_is_refused():
    path = Path("a\0b")
    for use in (read_text, lambda path: write_text(path, "x"), lambda path: atomic_folder(path).__enter__()):
        with pytest.raises(InputError, match="holds a NUL character"):
            use(path)


def test_threads_that_write_one_file_do_not_meet(tmp_path):
    texts = [str(number) * 100_000 for number in range(8)]
    both_are_writing, failures = threading.Barrier(len(texts)), []

    def write(text):
        try:
            with atomic_file(tmp_path / "file") as temporary:
                temporary.write_text(text)
                both_are_writing.wait()
                assert temporary.read_text() == text
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert (tmp_path / "file").read_text() in texts
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def synced(monkeypatch, write):
    """Return what was synced by ``write``: for each file or folder its inode, and the names that it had then."""
    seen = []
    original = os.fsync

    def fsync(file):
        status = os.fstat(file)
        names = (
            sorted(path.name for path in Path(f"/proc/self/fd/{file}").iterdir())
            if stat.S_ISDIR(status.st_mode)
            else None
        )
        seen.append((status.st_ino, names))
        return original(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        write()
    return seen


def test_the_file_is_synced_before_it_is_renamed_and_the_folder_after(tmp_path, monkeypatch):
    seen = synced(monkeypatch, lambda: write_text(tmp_path / "file", "x"))
    assert seen == [((tmp_path / "file").stat().st_ino, None), (tmp_path.stat().st_ino, ["file"])]


def test_a_new_folder_and_the_one_around_it_are_synced(tmp_path, monkeypatch):
    def write():
        with atomic_folder(tmp_path / "folder") as temporary:
            (temporary / "a").write_text("a")

    seen = synced(monkeypatch, write)
    assert seen == [((tmp_path / "folder").stat().st_ino, ["a"]), (tmp_path.stat().st_ino, ["folder"])]


def test_a_folder_that_cannot_be_synced_does_not_matter(tmp_path, monkeypatch):
    original = os.fsync

    def fsync(file):
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        original(file)

    monkeypatch.setattr(os, "fsync", fsync)
    write_text(tmp_path / "file", "x")
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_one_message(number):
    expected = pytest.raises(RunError, match=r"^there: the disk is full; nothing was overwritten")
    with expected, explained_os_errors(Path("there")):
        raise OSError(number, os.strerror(number))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("f", None, "f: no such file"),
        ("f", b"a\nb\xe9\n", "f:2: not UTF-8 text (byte 0xe9); save it as UTF-8"),
        ("f.gz", b"no gzip", "f.gz: not a gzip file, or a damaged one"),
        ("f.gz", b"", ""),
    ],
)
def test_what_cannot_be_read_is_one_message(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    if not message:  # gzip takes an empty file for an empty text
        assert read_text(tmp_path / name) == ""
        return
    with pytest.raises(InputError) as caught:
        read_text(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path}/{message}")


def test_a_byte_order_mark_is_no_text(tmp_path):
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfabc")
    assert read_text(tmp_path / "f") == "abc"


def hold(path, program="input()", before=""):
    """Start a process that holds a lock until it gets a line."""
    code = (
        f"{before}\nfrom pathlib import Path\nfrom clausal.files import locked_file\n"
        f"with locked_file(Path({str(path)!r}), lambda: print('busy', flush=True)):\n"
        f"    print('held', flush=True)\n    {program}\n"
    )
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_lock_is_waited_for_until_the_other_process_ends_even_by_a_kill(tmp_path):
    with hold(tmp_path / "lock") as first:
        assert first.stdout.readline() == "held\n"
        with hold(tmp_path / "lock") as second:
            assert second.stdout.readline() == "busy\n"
            first.kill()
            assert second.stdout.readline() == "held\n"
            second.communicate("\n")
    assert second.returncode == 0


def test_a_lock_that_another_process_has_can_be_refused(tmp_path):
    def refuse():
        raise RunError("busy")

    with hold(tmp_path / "lock") as first:
        assert first.stdout.readline() == "held\n"
        with pytest.raises(RunError, match="busy"), locked_file(tmp_path / "lock", refuse):
            pass
        first.communicate("\n")
    with locked_file(tmp_path / "lock", refuse):
        pass


# Stands for Windows' module, which Linux does not have: it notes how it was called.
WINDOWS = """
import sys, torch, types  # torch before: it would take this module for a sign of Windows too
sys.modules["fcntl"] = None
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=lambda *at: print("locking", *at[1:], flush=True))
import clausal.run
"""


def test_runs_can_be_imported_and_locked_without_fcntl(tmp_path):
    with hold(tmp_path / "lock", before=WINDOWS) as process:
        assert process.stdout.readline() == "locking 2 1\n"
        assert process.stdout.readline() == "held\n"
        process.communicate("\n")
    assert process.returncode == 0
