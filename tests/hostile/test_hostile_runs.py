"""Run directories that are damaged or made to do harm: one message, exit code 2, bounded memory and time."""

import json
import os
import random
import struct

import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import parquet
from safetensors.torch import load_file, save_file

from command_line import clausal, refused, run_forked

QUERY = "manages(person 01, ?)"


MUCH_MEMORY = 200_000_000  # bytes: a command that reads a small run takes a tenth of it
NOISE = random.Random(0)


def both_refuse(run, *fragments):
    """Assert that evaluating and asking are refused alike."""
    for command in (["evaluate", run], ["predict", run, QUERY]):
        refused(clausal(*command), run, *fragments)


def both_refuse_in_little_memory(run, log, *fragments):
    """Assert the same of processes of their own, whose memory can be measured."""
    for command in (["evaluate", run], ["predict", run, QUERY]):
        result = run_forked(*command, log=log)
        assert result.memory < MUCH_MEMORY
        refused(result, run, *fragments)


def rewrite_model(run, change):
    tensors = load_file(run / "model.safetensors")
    tensors = change(tensors) or tensors
    save_file(tensors, run / "model.safetensors")


def header(length, text=b""):
    return struct.pack("<Q", length) + text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"garbage",
        NOISE.randbytes(5000),
        header(10**18),
        header(2**64 - 1),
        header(2, b"{}"),
        header(2, b"[]"),
        header(8, b"not json"),
        header(100_000, b"[" * 100_000),
        b'\x80\x04cos\nsystem\n(S"touch /tmp/pickled"\ntR.',
    ],
    ids=["empty", "short", "random", "huge", "largest", "no tensors", "list", "text", "nested", "pickle"],
)
def test_a_model_file_of_nonsense_is_refused(content, copied):
    (copied / "model.safetensors").write_bytes(content)
    both_refuse(copied, "model.safetensors")


def test_a_header_that_claims_huge_tensors_is_refused(copied, tmp_path):
    claim = {"relations": {"dtype": "F32", "shape": [3, 10**15], "data_offsets": [0, 12 * 10**15]}}
    text = json.dumps(claim).encode()
    (copied / "model.safetensors").write_bytes(header(len(text), text))
    both_refuse_in_little_memory(copied, tmp_path / "log", "model.safetensors")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_model_is_refused(share, copied):
    content = (copied / "model.safetensors").read_bytes()
    (copied / "model.safetensors").write_bytes(content[: int(len(content) * share)])
    both_refuse(copied, "model.safetensors", "damaged")


def set_nan(tensors):
    tensors["encoder.weight"][3, 2] = float("nan")


def set_infinite(tensors):
    tensors["relations"][0, 0] = float("inf")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t | {"relations": t["relations"][:, :-1].contiguous()}, "'relations' has shape [3, 7]"),
        (lambda t: t | {"encoder.weight": t["encoder.weight"][:-1].clone()}, "need [24, 8]"),
        (lambda t: t | {"encoder.weight": t["encoder.weight"].flatten()}, "need [24, 8]"),
        (lambda t: t | {"encoder.weight": t["encoder.weight"].double()}, "expected torch.float32"),
        (lambda t: t | {"relations": t["relations"].to(torch.int32)}, "expected torch.float32"),
        (lambda t: t | {"relations": t["relations"].to(torch.float8_e4m3fn)}, "expected torch.float32"),
        (lambda t: {"relations": t["relations"]}, "'encoder.weight' is missing"),
        (lambda t: {"encoder.weight": t["encoder.weight"]}, "'relations' is missing"),
        (lambda t: t | {"extra": torch.zeros(2)}, "it holds 'extra'"),
        (set_nan, "'encoder.weight' holds values that are not finite"),
        (set_infinite, "'relations' holds values that are not finite"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(change, message, copied):
    rewrite_model(copied, change)
    both_refuse(copied, "model.safetensors", message)


@pytest.mark.parametrize(
    "setting",
    [
        "dim = 1000000000",
        "dim = 1000000000000000000000000",
        "dim = 7",
        "dim = 0",
        "dim = 'x'",
        "dimension = 8",
        'dim = 8\nscorer = "er-mlp"\nhidden = [1000000000, 1000000000]',
        'dim = 100000\nscorer = "rescal"',
        'dim = 1000000000\nscorer = "model-f"',
        'dim = 8\nscorer = "pickle"',
        "dim = [",
        "dim = " + "[" * 50_000,
    ],
)
def test_settings_that_do_not_fit_the_model_are_refused_without_taking_memory(setting, copied, tmp_path):
    (copied / "config.toml").write_text(f"[model]\n{setting}\n")
    both_refuse_in_little_memory(copied, tmp_path / "log")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("3", "expected a JSON object"),
        ("[]", "expected a JSON object"),
        ("{}", "run format None is not known"),
        ('{"format": 2}', "run format 2 is not known to clausal"),
        ('{"format": "1"}', "run format '1' is not known"),
        ('{"format": [1]}', "is not known"),
        ("[" * 100_000, "not valid JSON"),
        ('{"a":' * 100_000, "not valid JSON"),
        ('{"format": ' + "9" * 10_000 + "}", ""),
    ],
    ids=range(11),
)
def test_a_wrong_run_json_is_refused(text, message, copied):
    (copied / "run.json").write_text(text)
    both_refuse(copied, message)


@pytest.mark.parametrize("about", [{"graph": ["x"], "custom": 7}, {"graph": None, "custom": {"scorer": 1}}])
def test_odd_entries_in_run_json_do_no_harm(about, copied):
    (copied / "run.json").write_text(json.dumps({"format": 1} | about))
    assert clausal("evaluate", copied).code == 0


@pytest.mark.parametrize("name", ["run.json", "config.toml", "clauses.txt", "metrics.json"])
def test_bytes_that_are_no_text_are_refused(name, copied):
    (copied / name).write_bytes(b"\xff\xfe\x00\xd8")
    both_refuse(copied, name)


@pytest.mark.parametrize(
    "name",
    ["config.toml", "clauses.txt", "metrics.json", "vocabulary.parquet", "facts.parquet"],
)
def test_a_missing_file_is_named(name, copied):
    (copied / name).unlink()
    both_refuse(copied, name)


@pytest.mark.parametrize("name", ["run.json", "config.toml", "facts.parquet", "model.safetensors", "log.jsonl"])
def test_a_link_in_the_place_of_a_file_is_refused(name, copied, tmp_path):
    (copied / name).rename(tmp_path / name)
    (copied / name).symlink_to(tmp_path / name)
    both_refuse(copied, name, "not a link")


@pytest.mark.parametrize("name", ["run.json", "config.toml", "clauses.txt", "facts.parquet", "model.safetensors"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_a_pipe_or_folder_in_the_place_of_a_file_is_refused(name, make, copied):
    (copied / name).unlink()
    make(copied / name)
    both_refuse(copied, name)


@pytest.mark.parametrize(
    "text",
    ["{}", '{"training": 3}', '{"training": {"epochs": "x"}}', '{"training": {}, "test": []}', "[1]", "[" * 100_000],
)
def test_damaged_metrics_are_refused_where_they_are_shown(text, copied):
    (copied / "metrics.json").write_text(text)
    refused(clausal("train", "--resume", "--out", copied), "metrics.json")


def test_clauses_that_cannot_be_read_are_refused_with_their_line(copied):
    (copied / "clauses.txt").write_text("manages(X, Y) => works_with(X, Y)\nmanages(X, Y =>\n")
    for command in (["certify", copied], ["predict", copied, QUERY, "--explain"]):
        refused(clausal(*command), copied, "clauses.txt:2")


def vocabulary(run, **columns):
    parquet.write_table(pa.table(columns), run / "vocabulary.parquet")


def names(run):
    table = parquet.read_table(run / "vocabulary.parquet")
    return table["kind"].to_pylist(), table["name"].to_pylist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda kinds, names: {"kind": kinds, "name": [names[1], *names[1:]]}, "the same entity name occurs twice"),
        (lambda kinds, names: {"kind": kinds, "name": [*names[:-1], names[-2]]}, "the same relation name occurs twice"),
        (lambda kinds, names: {"name": names, "kind": kinds}, "expected columns kind, name"),
        (lambda kinds, names: {"kind": kinds}, "expected columns kind, name"),
        (lambda kinds, names: {"kind": kinds, "name": names, "more": names}, "expected columns kind, name"),
        (lambda kinds, names: {"kind": kinds, "name": [None, *names[1:]]}, "missing values"),
        (lambda kinds, names: {"kind": [None, *kinds[1:]], "name": names}, "missing values"),
        (lambda kinds, names: {"kind": ["thing", *kinds[1:]], "name": names}, "kind 'thing'"),
        (lambda kinds, names: {"kind": kinds, "name": ["", *names[1:]]}, "damaged"),
        (lambda kinds, names: {"kind": kinds, "name": [[name] for name in names]}, "damaged"),
        (lambda kinds, names: {"kind": kinds[1:], "name": names[1:]}, ""),
        (lambda kinds, names: {"kind": kinds[:-1], "name": names[:-1]}, ""),
        (lambda kinds, names: {"kind": [*kinds, "entity"], "name": [*names, "new"]}, "need [25, 8]"),
        (lambda kinds, names: {"kind": kinds[:0], "name": names[:0]}, ""),
        (lambda kinds, names: {"kind": kinds, "name": invalid_text(names)}, "damaged"),
    ],
    ids=range(15),
)
def test_a_damaged_vocabulary_is_refused(change, message, copied):
    vocabulary(copied, **change(*names(copied)))
    both_refuse(copied, message)


def invalid_text(names):
    """Text that is not UTF-8, as a file from elsewhere can hold."""
    data = [b"\xff\xfe", *(name.encode() for name in names[1:])]
    array = pa.array(data, pa.binary())
    return pa.StringArray.from_buffers(len(array), *array.buffers()[1:])


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("subject", 24),
        ("subject", -1),
        ("object", 2**31 - 1),
        ("relation", 3),
        ("relation", 2**40),
        ("relation", 0.5),
        ("subject", None),
        ("split", None),
        ("subject", "person 01"),
    ],
)
def test_facts_with_impossible_ids_are_refused(column, value, copied):
    path = copied / "facts.parquet"
    table = parquet.read_table(path)
    values = table[column].to_pylist()
    changed = pa.array([value, *values[1:]] if not isinstance(value, float | str) else [value] * len(values))
    parquet.write_table(table.set_column(table.column_names.index(column), column, changed), path)
    both_refuse(copied, "facts.parquet")


@pytest.mark.parametrize(
    "part", ["../../stolen", "/tmp/stolen", "a/b", "..", ".hidden", "a\\b", "C:stolen", "", "a\nb", "x" * 101]
)
def test_a_part_whose_name_is_a_path_is_refused(part, copied):
    path = copied / "facts.parquet"
    table = parquet.read_table(path)
    parts = pa.array([part if name.startswith("test-") else name for name in table["split"].to_pylist()])
    parquet.write_table(table.set_column(0, "split", parts), path)
    both_refuse(copied, "facts.parquet: damaged", "cannot name a part of test")


def test_a_small_file_that_claims_very_many_facts_is_refused(copied, tmp_path):
    rows = 30_000_000
    zeros = pa.array(np.zeros(rows, dtype=np.int32))
    split = pa.DictionaryArray.from_arrays(zeros, ["train"])
    table = pa.table({"split": split, "subject": zeros, "relation": zeros, "object": zeros})
    one_page = {"data_page_size": 2**30, "write_batch_size": rows, "max_rows_per_page": rows, "row_group_size": rows}
    parquet.write_table(table, copied / "facts.parquet", compression="zstd", **one_page)
    assert (copied / "facts.parquet").stat().st_size < 100_000
    both_refuse_in_little_memory(copied, tmp_path / "log", "facts.parquet", "claims 30,000,000 rows")


@pytest.mark.parametrize("name", ["vocabulary.parquet", "facts.parquet"])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\xff" * 100 + b"PAR1", NOISE.randbytes(3000)])
def test_files_that_are_no_parquet_are_refused(name, content, copied):
    (copied / name).write_bytes(content)
    both_refuse(copied, name)


@pytest.mark.parametrize("name", ["vocabulary.parquet", "facts.parquet", "model.safetensors"])
def test_a_flipped_byte_is_refused_or_harmless_but_never_a_crash(name, copied):
    content = (copied / name).read_bytes()
    for place in range(0, len(content), max(1, len(content) // 40)):
        (copied / name).write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        result = clausal("predict", copied, QUERY)
        if result.code:
            refused(result)


def test_garbage_in_the_log_does_not_matter_to_a_finished_run(copied):
    (copied / "log.jsonl").write_bytes(b"\xff\xff garbage\n" + b"[" * 100_000)
    assert clausal("evaluate", copied).code == 0
