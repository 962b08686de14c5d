"""Runs that are served with an index: it goes to the run that it was made of, and a new model is asked without it."""

import shutil

import pytest
from small_runs import write_run

import clausal
from clausal.errors import InputError
from clausal.run.indexing import read_index
from clausal.serve.runs import Runs

pytest.importorskip("usearch", reason="an index: pip install 'clausal[index]'")


def test_an_index_goes_to_its_run(tmp_path):
    write_run(tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    write_run(tmp_path / "new", seed=1)
    path = tmp_path / "one.index"
    clausal.load(tmp_path / "one", device="cpu").build_index(out=path)
    index = read_index(path)
    runs = Runs([tmp_path / "new", tmp_path / "two"], "cpu", {path: index})
    assert [served.run.index for served in runs] == [None, index]
    shutil.rmtree(tmp_path / "two")
    shutil.copytree(tmp_path / "new", tmp_path / "two")
    runs.reload()
    assert [served.run.index for served in runs] == [None, None]
    with pytest.raises(InputError, match="of other vectors than those of new"):
        Runs([tmp_path / "new"], "cpu", {path: index})
