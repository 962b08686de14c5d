"""One training at a time in a run directory."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clausal.errors import RunError
from clausal.run.files import explained_os_errors


@contextmanager
def locked(run: Path, lock: Path) -> Iterator[None]:
    """Hold the file ``lock`` of the run; the system lets go of it when the process ends, however it ends."""
    with explained_os_errors(run):
        lock.parent.mkdir(exist_ok=True)
        file = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"{run}: another process is training in this directory") from None
        except OSError:
            pass  # some network file systems have no locks; training without one is better than not at all
        yield
    finally:
        os.close(file)
