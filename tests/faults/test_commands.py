"""A slice of ``make faults``: a few steps of some commands, each with a few faults."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from faults.watching import why_not

REASON = why_not()
SLICE = {
    "train": ["kill", "power cut, names kept", "disk full", "two at once"],
    "closure": ["kill", "SIGINT", "no memory", "read-only"],
}


@pytest.mark.skipif(REASON is not None, reason=str(REASON))
@pytest.mark.parametrize("command", SLICE)
def test_a_command_takes_faults_at_some_of_its_steps(command, tmp_path):
    arguments = ["--commands", command, "--faults", *SLICE[command], "--most", "2", "--out", str(tmp_path / "counts")]
    result = subprocess.run(
        [sys.executable, "-m", "faults", *arguments],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    counts = json.loads((tmp_path / "counts").read_text())
    # Not twice as many: threads do not come to every step again, and such a case is not counted.
    assert counts["cases"] >= len(SLICE[command])
    assert counts["failures"] == 0
