"""The guard against tests that hang."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hanging import children_end


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are found by Linux's /proc")
def test_a_child_that_is_waited_for_without_end_is_killed():
    program = "import time; time.sleep(600)"
    with children_end(0.2), subprocess.Popen([sys.executable, "-c", program]) as process:
        pass
    assert process.returncode == -signal.SIGKILL
