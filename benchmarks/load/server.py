"""A server process for the load."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def served(run: Path, *options: str) -> Iterator[tuple[int, int]]:
    """Serve a run in a process of its own; yields the port and the process id."""
    command = [sys.executable, "-m", "clausal", "serve", str(run), "--port", "0", "--rate", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline().strip().rsplit(":", 1)[1]), process.pid
        finally:
            process.terminate()
            process.wait(60)
