"""The notebook of the docs runs from top to bottom, and its last cells show what they are about."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import clausal

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "notebook.ipynb"


def cells():
    return [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_the_notebook_is_kept_without_outputs():
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells())


@pytest.mark.filterwarnings("ignore")
def test_every_cell_runs_and_shows_html(tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason="pip install nbclient ipykernel to run the notebook")
    nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel to run the notebook")
    pytest.importorskip("ipykernel", reason="pip install nbclient ipykernel to run the notebook")
    monkeypatch.setenv("PYTHONPATH", _path())
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [cell["outputs"] for cell in notebook.cells if cell.cell_type == "code"]
    shown = ["".join(one.get("data", {}).get("text/html", "") for one in some) for some in outputs]
    assert ["clausal" in html for html in shown] == [True, True, True, True, False, True, True, True, False]
    bar, view = shown[2], shown[5]
    assert "trained" in bar
    assert 'value="1.0000"' in bar
    assert "<svg" in view
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_without_a_kernel_its_cells_run_as_a_program(tmp_path):
    if all(map(_is_installed, ("nbclient", "ipykernel"))):
        pytest.skip("the notebook itself is run")
    program = "\n".join("".join(cell["source"]) for cell in cells())
    options = {"capture_output": True, "text": True, "cwd": tmp_path, "env": os.environ | {"PYTHONPATH": _path()}}
    found = subprocess.run([sys.executable, "-c", program], check=False, **options)
    assert found.returncode == 0, found.stderr


def _path():
    """Where another process finds this library, whatever its working directory is."""
    source = str(Path(clausal.__file__).resolve().parents[1])
    return os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))


def _is_installed(name):
    from importlib.util import find_spec

    return find_spec(name) is not None
