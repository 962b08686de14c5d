"""Fixtures that tests of several folders share."""

import os
from pathlib import Path

import pytest

# Tensors in tests are tiny: a second thread only waits for the first. Read by torch and by child processes.
os.environ.setdefault("OMP_NUM_THREADS", "1")

_NEXT_TO_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def clausal_data(monkeypatch):
    """The folder of the published data sets, which `CLAUSAL_DATA` then names; skips where there is none."""
    folder = Path(os.environ.get("CLAUSAL_DATA") or _NEXT_TO_REPOSITORY)
    if not (folder / "fb122").is_dir():
        pytest.skip("the published data sets are not here; set CLAUSAL_DATA to a folder with fb122, wn18, …")
    monkeypatch.setenv("CLAUSAL_DATA", str(folder))
    return folder
