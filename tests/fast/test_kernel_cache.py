"""A kernel that was compiled before is compiled again when any file it is made of has changed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import clausal

STEP = """
import numpy as np
from clausal.fast.cpu.step import adagrad
row = np.zeros((1, 2), np.float32)
adagrad(row, np.ones_like(row), np.ones((1, 1, 2), np.float32), np.zeros(1, np.int64), np.float32(1), 0, np.float32(-9),
        np.float32(9), 0, 1)
print(round(float(row[0, 0]), 4), sum(adagrad.stats.cache_hits.values()))
"""


def first_number(folder):
    """Where one step of AdaGrad leaves a number, and how many kernels were found compiled."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    environment.pop("NUMBA_CACHE_DIR", None)
    found = subprocess.run([sys.executable, "-c", STEP], env=environment, capture_output=True, text=True, check=True)
    number, hits = found.stdout.split()
    return float(number), int(hits)


def test_a_changed_part_changes_the_kernel(tmp_path):
    package = Path(clausal.__file__).parent
    shutil.copytree(package, tmp_path / "clausal", ignore=shutil.ignore_patterns("__pycache__"))
    assert first_number(tmp_path) == (-0.7071, 0)
    assert first_number(tmp_path) == (-0.7071, 1)  # kept, as nothing has changed
    part = tmp_path / "clausal" / "fast" / "cpu" / "parts.py"
    text = part.read_text(encoding="utf-8")
    assert text.count("row[i] -= rate * g[i] /") == 1
    part.write_text(text.replace("row[i] -= rate * g[i] /", "row[i] -= 5 * rate * g[i] /"), encoding="utf-8")
    assert first_number(tmp_path) == (-3.5355, 0)
