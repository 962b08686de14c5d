"""Fixtures that tests of several folders share, and the GPU for the tests that ask for it."""

import os
import sys
from pathlib import Path

import pytest

from hanging import AFTER, children_end

# Tensors in tests are tiny: a second thread only waits for the first. Read by torch and by child processes.
os.environ.setdefault("OMP_NUM_THREADS", "1")

_NEXT_TO_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_configure(config):
    """Hide GPUs but from the tests that ask for one: only a CPU adds in the same order again, to the same bits."""
    if config.option.markexpr != "gpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Let no test wait for its children for ever."""
    with children_end(AFTER):
        return (yield)


def pytest_runtest_setup(item):
    """Check shapes at the public seams of all that is loaded by now, and skip what needs a GPU where there is none."""
    if "torch" in sys.modules:
        from shapes import check_shapes

        check_shapes()
    if item.get_closest_marker("gpu"):
        import torch

        if not torch.cuda.is_available():
            pytest.skip("needs an NVIDIA GPU: `make test-gpu` on a machine with one")


@pytest.fixture
def clausal_data(monkeypatch):
    """The folder of the published data sets, which `CLAUSAL_DATA` then names; skips where there is none."""
    folder = Path(os.environ.get("CLAUSAL_DATA") or _NEXT_TO_REPOSITORY)
    if not (folder / "fb122").is_dir():
        pytest.skip("the published data sets are not here; set CLAUSAL_DATA to a folder with fb122, wn18, …")
    monkeypatch.setenv("CLAUSAL_DATA", str(folder))
    return folder
