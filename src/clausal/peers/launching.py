"""``--processes``: the same command in several processes of this machine, watched until the last one has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from clausal.errors import count
from clausal.peers.joining import ENDED, MEETING

_POLL = 0.1
_GRACE = 15.0  # seconds in which the others end by themselves, as they notice that one is gone
_PER_CORE = 4
_LEAST_MOST = 8
"""Processes of one machine: at most so many for each core, and so many in any case."""


def launch(processes: int, arguments: Sequence[str]) -> int:
    """Run ``clausal`` with these arguments in some processes; return the exit code of the job.

    They meet in a folder and speak over the loopback device, so that no port of this machine is opened. The first
    process has the terminal. Of the others the errors are shown of that which was the first to fail.
    """
    threads = str(max(1, (os.cpu_count() or 1) // processes))
    with tempfile.TemporaryDirectory(prefix="clausal-") as folder:
        errors = [Path(folder) / f"errors-{rank}" for rank in range(processes)]
        started: list[subprocess.Popen[bytes]] = []
        before = signal.signal(signal.SIGTERM, _raise_exit)
        try:
            for rank in range(processes):
                environment = os.environ | {
                    MEETING: folder,
                    "RANK": str(rank),
                    "LOCAL_RANK": str(rank),
                    "WORLD_SIZE": str(processes),
                    "LOCAL_WORLD_SIZE": str(processes),
                }
                environment.setdefault("OMP_NUM_THREADS", threads)
                with errors[rank].open("wb") as stream:
                    started.append(
                        subprocess.Popen(
                            [sys.executable, "-m", "clausal", *arguments],
                            env=environment,
                            stdin=subprocess.DEVNULL,
                            stdout=None if rank == 0 else subprocess.DEVNULL,
                            stderr=None if rank == 0 else stream,
                        )
                    )
            failed = _watch(started)
        finally:
            _end(started)
            signal.signal(signal.SIGTERM, before)
        if failed is None:
            return 0
        if ENDED in errors[failed].read_text(errors="replace"):  # it only was the first to be gone
            failed = 0
        _say(failed, started[failed].returncode, errors[failed].read_text(errors="replace").strip())
    return max(1, started[failed].returncode)


def _watch(started: Sequence[subprocess.Popen[bytes]]) -> int | None:
    """Wait until all processes have ended; return the first that failed.

    After one has failed, or the first one has ended, which writes for all, the others have little time.
    """
    failed, until = None, float("inf")
    while any(process.poll() is None for process in started) and time.monotonic() < until:
        time.sleep(_POLL)
        gone = [rank for rank, process in enumerate(started) if process.poll()]
        if gone and failed is None:
            failed, until = gone[0], time.monotonic() + _GRACE
        if started[0].poll() == 0:
            until = min(until, time.monotonic() + _GRACE)
    if failed is None:
        failed = next((rank for rank, process in enumerate(started) if process.poll()), None)
    return failed


def _end(started: Sequence[subprocess.Popen[bytes]]) -> None:
    """End processes that still run; what they have saved stays."""
    for process in started:
        if process.poll() is None:
            process.terminate()
    for process in started:
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _say(rank: int, code: int, errors: str) -> None:
    """Say which process was the first to fail, unless it has had the terminal to say so itself."""
    if rank == 0 and code > 0:
        return
    if code < 0:
        ended = f"was killed by signal {-code}" + (", as a system does that is out of memory" if code == -9 else "")
        print(f"process {rank} {ended}", file=sys.stderr)
    elif errors:
        print("\n".join(f"process {rank}: {line}" for line in errors.splitlines()[-5:]), file=sys.stderr)
    else:
        print(f"process {rank} ended with exit code {code}", file=sys.stderr)


def _raise_exit(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def check_processes(processes: int) -> None:
    """Refuse a number of processes that is none, or that another launcher contradicts."""
    from clausal.errors import InputError
    from clausal.peers.joining import is_started_together, number_of_processes

    if processes < 1:
        raise InputError(f"--processes {processes}: expected 1 or more")
    cores = os.cpu_count() or 1
    if processes > (most := max(_LEAST_MOST, _PER_CORE * cores)):
        raise InputError(
            f"--processes {processes}: at most {most} on this machine, which has {count(cores, 'core', 'cores')}; more "
            "would only wait for each other"
        )
    if is_started_together() and number_of_processes() != processes:
        raise InputError(
            f"--processes {processes}, but {count(number_of_processes(), 'process', 'processes')} were started "
            "together: leave out --processes under torchrun"
        )
