"""How Numba compiles kernels, and how they are called: on the memory of torch's tensors, by several threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numpy.typing import NDArray
from torch import Tensor

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},  # sums in any order, but NaN stays NaN
}


def compiled_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile what Python calls, once for all processes.

    Numba keeps a compiled kernel under its name, and looks at the file of the kernel alone to see whether it is still
    right. The hash of all sources in its name makes it look again when a part in another file has changed.
    """
    function.__qualname__ += f"_{_sources()}"
    compiled: Callable[..., Any] = njit(cache=True, **_OPTIONS)(function)
    return compiled


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile what kernels call into them, where constants are known and loops over terms disappear."""
    compiled: Callable[..., Any] = njit(inline="always", **_OPTIONS)(function)
    return compiled


@cache
def _sources() -> str:
    """Return the hash of the files that kernels are made of."""
    here = Path(__file__).parent
    texts = [path.read_bytes() for path in sorted(here.glob("*.py"))]
    return sha256(b"\0".join([*texts, (here.parent / "kernels.py").read_bytes()])).hexdigest()[:16]


_Result = TypeVar("_Result")


def as_array(tensor: Tensor) -> NDArray[Any]:
    """Return a tensor's memory as an array."""
    array: NDArray[Any] = tensor.detach().numpy()
    return array


def share(threads: int, size: int, work: Callable[[int, int, int], _Result]) -> list[_Result]:
    """Let each thread do its share of a range: ``work(thread, first, last)``."""
    part = max(1, -(-size // threads))
    starts = range(part, size, part)
    tasks = [_pool(threads).submit(work, i, at, min(at + part, size)) for i, at in enumerate(starts, 1)]
    return [work(0, 0, min(part, size)), *(task.result() for task in tasks)]


def compiled(work: Callable[[], None]) -> None:
    """Compile the kernels that some work calls, or find them where an earlier process left them."""
    for _ in range(3):  # a kernel that cannot be kept on a full disk is there the next time
        with suppress(OSError):
            work()
            return


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="clausal-kernel")
