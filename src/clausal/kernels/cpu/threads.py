"""Sharing a range between threads: kernels let go of Python's lock."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

_Result = TypeVar("_Result")


def share(threads: int, size: int, work: Callable[[int, int, int], _Result]) -> list[_Result]:
    """Let each thread do its share of a range: ``work`` is told its thread, the first of its share and the end."""
    share = max(1, -(-size // threads))
    starts = range(share, size, share)
    tasks = [_pool(threads).submit(work, i, at, min(at + share, size)) for i, at in enumerate(starts, 1)]
    return [work(0, 0, min(share, size)), *(task.result() for task in tasks)]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="clausal-kernel")
