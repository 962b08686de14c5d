import sys
from pathlib import Path

import pytest

from small_graphs import copied, finished, graph_folder  # noqa: F401

sys.path.insert(0, str(Path(__file__).parents[1] / "evaluation"))


@pytest.fixture(scope="session")
def fused(finished, tmp_path_factory):  # noqa: F811
    """A run with votes of mined rules, and its directory."""
    import clausal

    out = tmp_path_factory.mktemp("fused") / "run"
    return clausal.load(finished).fuse(mine=True, out=out), out
