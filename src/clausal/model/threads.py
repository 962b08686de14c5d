"""Threads for many short operations, in searches of bounds and steps on small graphs: torch's wait at each of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import torch

FEW_NUMBERS = 1 << 20


class _OneThread:
    """Lets torch work by one thread; may be entered by several threads of the process at once, and more than once.

    torch keeps the number for each thread that calls it, and starts a new thread with the number set last by any. So
    whoever enters while another is inside may find that one's 1, and must not restore it: all restore what the first
    has found, each in its own thread.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._threads_before = 1

    def __enter__(self) -> None:
        with self._lock:
            # Asked in any case: a thread's first question sets the number that it starts with.
            found = torch.get_num_threads()
            if self._inside == 0:
                self._threads_before = found
            self._inside += 1
            torch.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            torch.set_num_threads(self._threads_before)


_one_thread = _OneThread()


@contextmanager
def threads_for(numbers: int) -> Iterator[None]:
    """Let torch work by one thread on few numbers: others gain little, and beside other programs much time is waited.

    Two threads took a tenth less for a pass over UMLS on two quiet cores, and ten times as long on busy ones.
    """
    if numbers > FEW_NUMBERS:
        yield
        return
    with _one_thread:
        yield
