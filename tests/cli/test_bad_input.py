"""Bad input through the whole command: one message that says what and where, and nothing half-written."""

import gzip
import os

import numpy as np
import pyarrow as pa
import pytest

from command_line import clausal, refused
from small_graphs import CLAUSES, quick, small_facts, train_options, write_facts, write_small_graph


@pytest.fixture
def graph(tmp_path):
    """A small graph that a test may spoil."""
    return write_small_graph(tmp_path / "graph")


def train_fails(tmp_path, arguments, *fragments, code=2):
    """Assert that a training is refused and leaves nothing behind."""
    out = tmp_path / "out" / "run"
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    message = refused(clausal(*arguments, "--out", out), *fragments, code=code)
    assert not out.exists()
    assert not out.parent.exists() or not list(out.parent.iterdir())
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    return message


@pytest.mark.parametrize(
    ("name", "content", "fragments"),
    [
        ("train.tsv", b"", ["train.tsv"]),
        ("train.tsv", b"\n\n", ["train.tsv"]),
        ("valid.tsv", b"", ["valid.tsv"]),
        ("train.tsv", b"a\tr\tb\na\tr\n", ["train.tsv:2", "2 columns"]),
        ("train.tsv", b"a\tr\tb\na\tr\tb\tc\n", ["train.tsv:2", "4 columns"]),
        ("train.tsv", b"a\tr\tb\na\t\tb\n", ["train.tsv:2", "empty"]),
        ("train.tsv", b"a\tr\tb\na\tr\t\xff\xfe\n", ["train.tsv:2", "UTF-8"]),
        ("test-I.tsv", b"person 01\tmanages\tperson 19\n", ["test-I.tsv:1", "not in test"]),
        ("train.txt", b"a\tr\tb\n", ["train.txt", "train.tsv", "keep one"]),
    ],
    ids=range(9),
)
def test_a_spoilt_file_of_facts(name, content, fragments, graph, tmp_path):
    (graph / name).write_bytes(content)
    train_fails(tmp_path, train_options(graph), graph, *fragments)


def test_a_truncated_gzip_file(graph, tmp_path):
    content = gzip.compress((graph / "train.tsv").read_bytes())
    (graph / "train.tsv").unlink()
    (graph / "train.tsv.gz").write_bytes(content[:-20])
    train_fails(tmp_path, train_options(graph), graph / "train.tsv.gz")


def test_a_graph_that_is_not_there(tmp_path, graph):
    train_fails(tmp_path, ["train", tmp_path / "none", *quick()], tmp_path / "none", "no such file or folder")
    train_fails(tmp_path, ["train", "fb123"], "did you mean 'fb122'?")
    train_fails(tmp_path, ["train"], "give a graph to train on")
    (graph / "train.tsv").unlink()
    train_fails(tmp_path, train_options(graph), graph, "no train file")


def test_a_name_longer_than_any_file_has(tmp_path, graph):
    train_fails(tmp_path, ["train", "x" * 5000], code=1)
    refused(clausal(*train_options(graph), "--out", tmp_path / ("x" * 300)), code=1)
    refused(clausal("evaluate", "x" * 5000), code=1)


def test_one_bad_line_among_thousands_of_clauses(graph, tmp_path):
    lines = ["manages(X, Y) => works_with(X, Y)"] * 5000
    lines[3210] = "manages(X, Y) => works_with(X, Y"
    (graph / "clauses.txt").write_text("\n".join(lines))
    train_fails(tmp_path, train_options(graph), f"{graph / 'clauses.txt'}:3211:")


@pytest.mark.parametrize(
    ("clause", "fragments"),
    [
        ("manages(X, Y) => work_with(X, Y)", ["clauses.txt:6:18", "'work_with'", "did you mean 'works_with'?"]),
        ("manages(X, 'persn 01') => works_with(X, X)", ["clauses.txt:6:12", "did you mean 'person 01'?"]),
        ("manages(X, Y) => works_with(X, Z)", ["clauses.txt:6:32", "variable 'Z' is not in the body"]),
        ("manages(X, Y) =>", ["clauses.txt:6"]),
    ],
)
def test_a_clause_that_does_not_fit_the_graph(clause, fragments, graph, tmp_path):
    (graph / "clauses.txt").write_text(f"{CLAUSES}\n{clause}\n")
    train_fails(tmp_path, train_options(graph), *fragments)


def test_clause_files_that_cannot_be_read(graph, tmp_path):
    (graph / "clauses.txt").write_text("% nothing but a comment\n")
    train_fails(tmp_path, train_options(graph), graph / "clauses.txt", "no clauses in this file")
    (graph / "clauses.txt").unlink()
    train_fails(tmp_path, train_options(graph), graph / "clauses.txt", "no such file")


@pytest.mark.parametrize(
    ("settings", "fragments"),
    [
        ("[model]\ndim = = 3", ["settings.toml", "not valid TOML", "line 2"]),
        ("[model]\ndimm = 3", ["settings.toml", "unknown setting 'model.dimm'", "did you mean 'dim'?"]),
        ("[modle]\ndim = 3", ["unknown section 'modle'", "did you mean 'model'?"]),
        ("[model]\ndim = -3", ["model.dim", "greater than 0", "-3"]),
        ("[model]\ndim = 'wide'", ["model.dim", "'wide'"]),
        ("[model]\ndim = 7", ["model.dim", "complex needs an even number"]),
        ("[model]\nencoder = 'frozen'", ["model.pretrained", "needs a file of vectors"]),
        ("[model]\nencoder = 'frozen'\npretrained = 'none.npy'", ["none.npy", "no such file of vectors"]),
        ("[train]\ndevice = 'gpu'", ["train.device", "'gpu'"]),
        ("[train]\ndevice = 'cuda:99'", ["train.device", "'cuda:99'", "this machine has cpu"]),
        ("[train]\ndevice = 'meta'", ["train.device", "'meta'"]),
        (
            "[clauses]\nadversary = 'closed-form'\nsemantics = 'product'",
            ["closed forms exist only where violations are linear in scores"],
        ),
        (
            "[model]\nscorer = 'er-mlp'\n[clauses]\nadversary = 'closed-form'\nfallback = 'error'",
            ["no closed form for 3 clauses"],
        ),
        ("[evaluate]\nmetric = 'auc'", ["evaluate.metric"]),
    ],
)
def test_settings_that_cannot_be(settings, fragments, graph, tmp_path):
    (tmp_path / "settings.toml").write_text(settings)
    arguments = ["train", graph, "--clauses", graph / "clauses.txt", "--config", tmp_path / "settings.toml"]
    train_fails(tmp_path, arguments, *fragments)


def test_a_settings_file_that_cannot_be_read(graph, tmp_path):
    train_fails(tmp_path, ["train", graph, "--config", tmp_path / "none.toml"], "none.toml", "no such settings file")
    train_fails(tmp_path, ["train", graph, "--config", graph], graph, "a folder; expected a file")
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9")
    train_fails(tmp_path, ["train", graph, "--config", tmp_path / "latin.toml"], "latin.toml", "cannot be read as text")


def test_bad_assignments(graph, tmp_path):
    train_fails(tmp_path, ["train", graph, "--set", "dim=3"], "expected section.key=value")
    train_fails(tmp_path, ["train", graph, "--set", "model.dim=wide"], "--set", "model.dim", "'wide'")


@pytest.mark.parametrize("size", [2**31, 10**18, 10**30])
def test_sizes_beyond_any_memory_are_refused(size, graph, tmp_path):
    for setting in ("model.dim", "clauses.sets", "facts.negatives"):
        train_fails(tmp_path, ["train", graph, "--set", f"{setting}={size}"], setting, "less than 2147483648")


@pytest.mark.parametrize(
    "failure",
    [
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp:118] . DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB"),
    ],
)
def test_running_out_of_memory_is_no_internal_error(failure, graph, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise failure

    monkeypatch.setattr("clausal.run.training.prepare", fail)
    train_fails(tmp_path, train_options(graph), "out of memory", "model.dim", code=1)


@pytest.mark.parametrize("where", ["clausal.graph.loading.read_table", "clausal.graph.loading.build_graph"])
@pytest.mark.parametrize("failure", [MemoryError(), pa.ArrowMemoryError("malloc of size 8 failed")])
def test_running_out_of_memory_while_reading_names_the_file(where, failure, graph, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise failure

    monkeypatch.setattr(where, fail)
    message = train_fails(tmp_path, train_options(graph), graph, "out of memory while reading it", code=1)
    assert "model.dim" not in message


def test_running_out_of_memory_while_reading_clauses_names_the_file(graph, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr("clausal.logic.formats.language.parse_clauses", fail)
    train_fails(tmp_path, train_options(graph), graph / "clauses.txt", "out of memory while reading it", code=1)


@pytest.mark.parametrize(
    "arguments", [["--format", "x" * 50_000], ["--" + "x" * 50_000], ["x" * 50_000], ["--set", "x" * 50_000]]
)
def test_long_arguments_are_not_repeated_in_full(arguments, graph):
    result = clausal("train", graph, *arguments)
    assert result.code == 2
    assert len(result.stderr) < 3000
    assert len(clausal(*arguments).stderr) < 3000


def test_long_names_are_not_repeated_in_full(graph, tmp_path):
    (graph / "clauses.txt").write_text(f"{CLAUSES}manages(X, Y) => {'x' * 200_000}(X, Y)\n")
    assert len(train_fails(tmp_path, train_options(graph), "unknown relation 'xxxx", "relations")) < 1100


def test_shares_of_a_split_that_cannot_be(tmp_path):
    write_facts(tmp_path / "facts.tsv", small_facts())
    for valid in ("0.9", "-0.1", "nan"):
        train_fails(tmp_path, ["train", tmp_path / "facts.tsv", "--valid", valid, "--test", "0.3"])
    train_fails(tmp_path, ["train", tmp_path / "facts.tsv", "--columns", "xyz"], "xyz")


def test_an_existing_out_is_left_alone(graph, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "precious").write_text("results")
    refused(clausal(*train_options(graph), "--out", out), out, "exists already", "--resume")
    refused(clausal(*train_options(graph), "--out", out / "precious"), "exists already")
    assert (out / "precious").read_text() == "results"
    assert [path.name for path in out.iterdir()] == ["precious"]


def test_a_file_in_the_way_of_out(graph, tmp_path):
    (tmp_path / "file").write_text("in the way")
    refused(clausal(*train_options(graph), "--out", tmp_path / "file" / "run"), tmp_path / "file" / "run", code=1)
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only to root")
def test_a_folder_that_is_read_only(graph, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o555)
    result = clausal(*train_options(graph), "--out", tmp_path / "closed" / "run")
    refused(result, tmp_path / "closed" / "run", "Permission denied", code=1)


def test_a_training_that_diverges_says_so_and_keeps_its_last_good_state(graph, tmp_path):
    options = train_options(graph, model__domain="none", train__learning_rate=1e30, train__optimizer="sgd")
    refused(clausal(*options, "--out", tmp_path / "run"), "training diverged", "learning_rate", code=1)
    assert not (tmp_path / "run" / "model.safetensors").exists()


@pytest.mark.parametrize("command", [["evaluate"], ["predict", "manages(person 01, ?)"]])
def test_a_folder_that_is_no_run(command, graph, tmp_path):
    name, *rest = command
    refused(clausal(name, tmp_path / "none", *rest), tmp_path / "none", "no such run directory")
    refused(clausal(name, graph, *rest), graph, "not a run directory")
    refused(clausal(name, graph / "train.tsv", *rest), graph / "train.tsv", "a file, not a run directory")


def test_a_working_directory_that_has_been_deleted(graph, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for command in (train_options(graph), ["mine", graph], ["reproduce", "contours"]):
        refused(clausal(*command), "the working directory has been deleted; change to one that is there")


@pytest.mark.parametrize("setting", ["pretrained", "pretrained_names"])
def test_a_path_with_a_nul(setting, graph, tmp_path):
    np.save(tmp_path / "vectors.npy", np.zeros((24, 8), dtype=np.float32))
    paths = {"pretrained": "vectors.npy", "pretrained_names": "names.txt"} | {setting: "a\\u0000b"}
    lines = "".join(f'{name} = "{tmp_path}/{path}"\n' for name, path in paths.items())
    (tmp_path / "settings.toml").write_text(f'[model]\ndim = 8\nencoder = "frozen"\n{lines}')
    train_fails(tmp_path, ["train", graph, "--config", tmp_path / "settings.toml"], "holds a NUL character")
