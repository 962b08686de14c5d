"""How much memory is free, and memory that is given back."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path

import torch

_MEMINFO = Path("/proc/meminfo")


def free_memory(device: torch.device) -> int:
    """Return the bytes that can be had on a device: what is available, or where that is not said, all there is."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    if _MEMINFO.is_file():
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def give_back_memory() -> None:
    """Give back to the system what this process has no use for any more: reading a graph takes more than the graph."""
    if (pyarrow := sys.modules.get("pyarrow")) is not None:
        pyarrow.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # a C library that has no such function
        ctypes.CDLL(None).malloc_trim(0)
