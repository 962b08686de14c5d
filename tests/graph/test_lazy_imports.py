"""Importing the graph package is quick: it brings in neither torch nor the readers' libraries."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("library", ["torch", "pyarrow", "pyoxigraph", "pandas", "duckdb"])
def test_importing_the_graph_does_not_import(library):
    program = f"import sys, clausal.graph; sys.exit({library!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
