"""How Numba compiles the kernels.

Calling kernels: on the memory of torch's tensors, by several threads, and once before they are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

from numpy.typing import NDArray
from torch import Tensor

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},  # sums in any order, but NaN stays NaN
}
KERNEL = OPTIONS | {"cache": True}
"""What Python calls, compiled once for all processes."""
PART = OPTIONS | {"inline": "always"}
"""What kernels call: put into them, where constants are known and loops over terms disappear.

Numba compiles a kernel again when its own file changes, not when that of a part does: after a change there, remove
``__pycache__``.
"""


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
