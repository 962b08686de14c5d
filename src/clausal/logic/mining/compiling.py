"""How mining compiles its kernels with Numba, and how several threads share the work."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from numba import njit

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile what Python calls, once for all processes.

    Numba looks at the file of a kernel alone to see whether what it has kept is still right. The hash of all files here
    is in the name, so that it looks again when a part in another file has changed.
    """
    function.__qualname__ += f"_{_sources()}"
    compiled: Callable[..., Any] = njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile what kernels call."""
    compiled: Callable[..., Any] = njit(nogil=True, error_model="numpy")(function)
    return compiled


@cache
def _sources() -> str:
    texts = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    return sha256(b"\0".join(texts)).hexdigest()[:16]


def threads() -> int:
    """Return how many threads may compute at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(work: Callable[[_Task], _Result], tasks: Iterable[_Task]) -> Iterator[tuple[_Task, _Result]]:
    """Yield each task with its result as it is done; a task is begun only when a thread is free for it."""
    waiting = iter(tasks)
    with ThreadPoolExecutor(threads(), thread_name_prefix="clausal-mining") as pool:
        running: dict[Future[_Result], _Task] = {}
        while True:
            for task in islice(waiting, threads() - len(running)):
                running[pool.submit(work, task)] = task
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
