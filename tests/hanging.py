"""A test that hangs ends: pytest-timeout interrupts it, and what it waits for after that is killed."""

import os
import signal
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

AFTER = 360
"""Seconds from the begin of a test, a minute more than pytest-timeout gives it."""


@contextmanager
def children_end(after):
    """Kill the children of this process when the block takes longer: ``with Popen(…)`` waits for them without end."""
    timer = threading.Timer(after, _kill_children)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _kill_children():
    for task in Path("/proc/self/task").glob("*/children"):
        for child in task.read_text().split():
            with suppress(OSError):
                os.kill(int(child), signal.SIGKILL)
