"""Servers that tests share: each takes seconds to start."""

import pytest

pytest.importorskip("fastapi", reason="the service needs its extra: pip install 'clausal[serve]'")

from service import TOKEN, started
from small_runs import large_graph, write_run

import clausal


@pytest.fixture(scope="session")
def run_paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hidden-folder")
    write_run(folder / "countries")
    write_run(folder / "large", large_graph(), clauses="", dim=16, calibrated=False)
    write_run(folder / "training", finished=False)
    return folder / "countries", folder / "large", folder / "training"


@pytest.fixture(scope="session")
def service(run_paths):
    """A server of three runs, the last of which is still being trained."""
    with started(*run_paths, "--rate", "0") as found:
        yield found


@pytest.fixture(scope="session")
def run(run_paths):
    return clausal.load(run_paths[0], device="cpu")


@pytest.fixture(scope="session")
def strict_service(run_paths, tmp_path_factory):
    """A server with a token and tight limits."""
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_text(TOKEN + "\n")
    limits = ("--rate", "20", "--seconds", "2", "--body", "1", "--connections", "20")
    with started(run_paths[0], "--token-file", file, *limits) as found:
        yield found
