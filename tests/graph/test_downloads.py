"""Downloads from a server on this machine: whole, resumed, from mirrors and archives, always verified."""

import hashlib
import io
import multiprocessing
import socket
import tarfile
import zipfile

import pytest
from local_server import LocalServer

from clausal.errors import InputError, RunError
from clausal.graph import datasets, download, load_graph, loading
from clausal.graph.catalogue import DataFile, DataSet, Source
from clausal.graph.datasets import obtain
from recording import Recorder

TEXT = "".join(f"e{i}\tr\te{i + 1}\n" for i in range(20_000)).encode()


@pytest.fixture(autouse=True)
def direct_connection(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def server():
    with LocalServer() as server:
        yield server


def data_file(*sources, text=TEXT, name="train.txt"):
    return DataFile(name, hashlib.sha256(text).hexdigest(), tuple(sources))


def fetch(file, folder, **options):
    return obtain(file, folder, pause=0.01, **options)


def part_of(folder, source):
    """Where the beginning of a download waits to be resumed."""
    downloads = folder / ".downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    return downloads / (hashlib.sha256(source.address.encode()).hexdigest()[:16] + ".part")


def tar_of(files, mode="w:gz"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def zip_of(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_a_file_arrives_whole_with_progress(server, tmp_path):
    server.files["/train"] = TEXT
    seen = Recorder()
    path = fetch(data_file(Source(f"{server.address}/train")), tmp_path / "set", observer=seen)
    assert path == tmp_path / "set" / "train.txt"
    assert path.read_bytes() == TEXT
    assert seen.of("advanced")[-1] == ("set/train.txt", len(TEXT), len(TEXT), "bytes")
    assert [have for _, have, _, _ in seen.of("advanced")] == sorted({have for _, have, _, _ in seen.of("advanced")})


def test_a_file_that_is_there_is_not_asked_for_again(server, tmp_path):
    server.files["/train"] = TEXT
    file = data_file(Source(f"{server.address}/train"))
    fetch(file, tmp_path)
    fetch(file, tmp_path)
    assert len(server.requests) == 1


def test_a_download_cut_off_earlier_is_resumed(server, tmp_path):
    server.files["/train"] = TEXT
    source = Source(f"{server.address}/train")
    part_of(tmp_path, source).write_bytes(TEXT[:1000])
    assert fetch(data_file(source), tmp_path).read_bytes() == TEXT
    assert server.requests == [("/train", "bytes=1000-")]


def test_a_connection_that_ends_early_is_resumed_where_it_ended(server, tmp_path):
    server.files["/train"] = TEXT
    server.cut_after = len(TEXT) // 2 + 1
    assert fetch(data_file(Source(f"{server.address}/train")), tmp_path).read_bytes() == TEXT
    assert [asked for _, asked in server.requests] == [None, f"bytes={server.cut_after}-"]


def test_a_server_without_ranges_sends_the_file_again(server, tmp_path):
    server.files["/train"] = TEXT
    server.ranges = False
    source = Source(f"{server.address}/train")
    part_of(tmp_path, source).write_bytes(b"something else")
    assert fetch(data_file(source), tmp_path).read_bytes() == TEXT


def test_a_part_longer_than_the_file_is_thrown_away(server, tmp_path):
    server.files["/train"] = TEXT
    source = Source(f"{server.address}/train")
    part_of(tmp_path, source).write_bytes(TEXT + b"more")
    assert fetch(data_file(source), tmp_path).read_bytes() == TEXT


def test_a_server_that_is_busy_is_asked_again(server, tmp_path):
    server.files["/train"] = TEXT
    server.fail_first = 2
    assert fetch(data_file(Source(f"{server.address}/train")), tmp_path).read_bytes() == TEXT
    assert len(server.requests) == 3


def test_the_next_mirror_is_tried(server, tmp_path):
    server.files["/copy"] = TEXT
    server.files["/changed"] = TEXT + b"x"
    names = ("gone", "changed", "copy")
    assert fetch(data_file(*(Source(f"{server.address}/{name}") for name in names)), tmp_path).read_bytes() == TEXT
    assert [path for path, _ in server.requests] == ["/gone", "/changed", "/copy"]


def test_carriage_returns_are_dropped_before_the_hash(server, tmp_path):
    server.files["/train"] = TEXT.replace(b"\n", b"\r\n")
    assert fetch(data_file(Source(f"{server.address}/train")), tmp_path).read_bytes() == TEXT


def test_a_server_that_sends_byte_by_byte_is_given_up_for_a_mirror(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "_SLOW_SECONDS", 0.3)
    server.files["/train"], server.trickle = TEXT, 0.02
    with LocalServer({"/train": TEXT}) as mirror:
        file = data_file(Source(f"{server.address}/train"), Source(f"{mirror.address}/train"))
        assert fetch(file, tmp_path, attempts=2).read_bytes() == TEXT
    assert len(server.requests) == 2
    with pytest.raises(RunError, match=r"the server sends less than 60,000 bytes in 0\.3 s"):
        fetch(data_file(Source(f"{server.address}/train")), tmp_path / "alone", attempts=1)


def test_a_corrupted_file_is_removed_and_named(server, tmp_path):
    server.files["/train"] = b"X" + TEXT[1:]
    file = data_file(Source(f"{server.address}/train"))
    with pytest.raises(
        RunError, match=r"cannot download \S+/train.txt: .*/train: not the published content .*; removed"
    ):
        fetch(file, tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    server.files["/train"] = TEXT
    assert fetch(file, tmp_path).read_bytes() == TEXT


def test_when_every_mirror_fails_each_is_named(server, tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{unused.getsockname()[1]}/train"
    file = data_file(Source(f"{server.address}/gone"), Source(dead))
    with pytest.raises(RunError) as caught:
        fetch(file, tmp_path)
    message = str(caught.value)
    assert f"{server.address}/gone: HTTP 404" in message
    assert f"{dead}: " in message
    assert "refused" in message
    assert "CLAUSAL_DATA" in message
    assert len(server.requests) == 1  # asking again for what is not there is no use


@pytest.mark.parametrize("pack", [tar_of, lambda files: tar_of(files, "w"), zip_of], ids=["tar.gz", "tar", "zip"])
def test_members_come_from_one_download_of_the_archive(server, tmp_path, pack):
    members = {"./a/train.txt": TEXT, "./a/test.txt": b"a\tr\tb\r\n", "./a/my-test.txt": b"other"}
    server.files["/all"] = pack(members)
    archive = f"{server.address}/all"
    train = fetch(data_file(Source(archive, "train.txt")), tmp_path)
    test = fetch(data_file(Source(archive, "test.txt"), text=b"a\tr\tb\n", name="test.txt"), tmp_path)
    assert train.read_bytes() == TEXT
    assert test.read_bytes() == b"a\tr\tb\n"
    assert len(server.requests) == 1


def test_an_archive_cannot_write_outside_the_folder(server, tmp_path):
    server.files["/all"] = tar_of({"../../evil/train.txt": TEXT})
    folder = tmp_path / "cache" / "set"
    assert fetch(data_file(Source(f"{server.address}/all", "train.txt")), folder).parent == folder
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("content", [tar_of({"other.txt": TEXT}), b"no archive", tar_of({"train.txt": TEXT})[:-500]])
def test_a_damaged_or_unexpected_archive_is_removed(server, tmp_path, content):
    server.files["/all"] = content
    with pytest.raises(RunError, match=r"a damaged or unexpected archive .*; removed"):
        fetch(data_file(Source(f"{server.address}/all", "train.txt")), tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_folder_that_cannot_be_written_is_a_clear_error(server, tmp_path):
    server.files["/train"] = TEXT
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match=r"set/train.txt: cannot be written: Not a directory; XDG_CACHE_HOME"):
        fetch(data_file(Source(f"{server.address}/train")), tmp_path / "file" / "set")


SUMMARY = "tiny: 3 entities, 1 relation, 2 / 0 / 1 facts (train / valid / test)"
TINY = {
    "/all": tar_of({"train.txt": b"a\tr\tb\nb\tr\tc\n", "test.txt": b"a\tr\tc\n"}),
    "/rules": b"r(X,Y)",
}


def tiny_dataset(address):
    """Three facts and a rule, of which the facts come in an archive."""
    files = (
        data_file(Source(f"{address}/all", "train.txt"), text=b"a\tr\tb\nb\tr\tc\n"),
        data_file(Source(f"{address}/all", "test.txt"), text=b"a\tr\tc\n", name="test.txt"),
        data_file(Source(f"{address}/rules"), text=b"r(X,Y)", name="clauses.pl"),
    )
    return {"tiny": DataSet("tiny", "three facts", files, clauses="clauses.pl")}


@pytest.fixture
def tiny(server, tmp_path, monkeypatch):
    """A known data set `tiny` on the local server, with an empty cache."""
    server.files |= TINY
    known = tiny_dataset(server.address)
    monkeypatch.setattr(datasets, "DATASETS", known)
    monkeypatch.setattr("clausal.graph.loading.DATASETS", known)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CLAUSAL_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache" / "clausal" / "tiny"


def test_a_data_set_is_downloaded_once_into_the_cache(tiny, server):
    for _ in range(2):
        graph = load_graph("tiny")
        assert graph.summary() == SUMMARY
    assert sorted(path.name for path in tiny.iterdir()) == ["clauses.pl", "test.txt", "train.txt"]
    assert datasets.dataset_clauses("tiny") == tiny / "clauses.pl"
    assert len(server.requests) == 2


def load_tiny_in_a_process(address, start):
    """Load the data set as soon as the other processes are ready too; the summary is the exit message."""
    known = tiny_dataset(address)
    datasets.DATASETS = loading.DATASETS = known
    start.wait()
    if load_graph("tiny").summary() != SUMMARY or datasets.dataset_clauses("tiny").read_bytes() != b"r(X,Y)":
        raise AssertionError("other facts or clauses")


def test_processes_that_find_the_cache_empty_download_a_data_set_once(tiny, server):
    server.delay = 0.3  # while one waits for an answer, the others have come as far
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(3)
    processes = [context.Process(target=load_tiny_in_a_process, args=(server.address, start)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert sorted(path for path, _ in server.requests) == ["/all", "/rules"]
    assert sorted(path.name for path in tiny.iterdir()) == ["clauses.pl", "test.txt", "train.txt"]


def test_a_cache_that_is_whole_need_not_be_writable(tiny, server, tmp_path):
    load_graph("tiny")
    lock = tmp_path / "cache" / "clausal" / ".tiny.lock"
    lock.unlink()
    load_graph("tiny")
    assert datasets.dataset_clauses("tiny") == tiny / "clauses.pl"
    assert not lock.exists()


def test_clauses_alone_do_not_bring_the_facts(tiny, server):
    assert datasets.dataset_clauses("tiny").read_bytes() == b"r(X,Y)"
    assert datasets.dataset_clauses("tiny", simple=True) is None
    assert [path for path, _ in server.requests] == ["/rules"]


def test_the_users_own_folder_comes_first(tiny, server, tmp_path, monkeypatch):
    own = tmp_path / "own" / "tiny"
    own.mkdir(parents=True)
    (own / "train.txt").write_text("x\tr\ty\n")
    monkeypatch.setenv("CLAUSAL_DATA", str(tmp_path / "own"))
    assert list(load_graph("tiny").entities) == ["x", "y"]
    assert server.requests == []
    assert datasets.dataset_clauses("tiny") == tiny / "clauses.pl"


def test_clausal_data_must_be_a_folder(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUSAL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"CLAUSAL_DATA names .*nowhere, which is not a folder"):
        load_graph("tiny")


def test_an_unknown_data_set_is_an_error_with_a_suggestion():
    with pytest.raises(InputError, match=r"unknown data set 'wn18r'; known are fb122, .*; did you mean 'wn18"):
        datasets.dataset_clauses("wn18r")
